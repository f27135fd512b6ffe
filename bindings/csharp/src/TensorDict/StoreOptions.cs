using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>Where a <see cref="TensorDictStore"/> lies.</summary>
    public sealed record StoreOptions
    {
        /// <summary>The host of the server; localhost unless set.</summary>
        public string? Host { get; set; }

        /// <summary>The port of the server; 0: 6379.</summary>
        public int Port { get; set; }

        /// <summary>A socket of the file system, instead of host and port.</summary>
        public string? UnixSocket { get; set; }

        /// <summary>Who the password is of.</summary>
        public string? Username { get; set; }

        /// <summary>The password, which no message shows.</summary>
        public string? Password { get; set; }

        /// <summary>What all keys begin with; "tensordict" unless set.</summary>
        public string? Prefix { get; set; }

        /// <summary>Which dictionary; a new one gets a random id unless it is set.</summary>
        public string? Id { get; set; }

        /// <summary>The number of the server's database.</summary>
        public long Db { get; set; }

        /// <summary>The most time to connect, and to answer; 10 seconds unless set.</summary>
        public TimeSpan? Timeout { get; set; }

        /// <summary>The most bytes of the answers to one call; 0: 16 GB.</summary>
        public ulong MaxBytes { get; set; }

        /// <summary>Whether the connection is encrypted, by TLS 1.2 or newer, and the server's certificate checked.</summary>
        public bool Tls { get; set; }

        /// <summary>A PEM file of the certificates that the server's must come from; those that the system trusts
        /// unless set.</summary>
        public string? TlsCa { get; set; }

        /// <summary>A PEM file of this client's certificate.</summary>
        public string? TlsCert { get; set; }

        /// <summary>A PEM file of the key of <see cref="TlsCert"/>.</summary>
        public string? TlsKey { get; set; }

        /// <summary>Whose certificate the server must have; that of the host unless set.</summary>
        public string? TlsServerName { get; set; }

        internal unsafe delegate td_status Use(td_store_options* options, td_store** result);

        // A record prints its properties.
        private bool PrintMembers(System.Text.StringBuilder builder)
        {
            builder.Append(UnixSocket ?? Host ?? "localhost").Append(", ").Append(Prefix).Append(", ").Append(Id);
            return true;
        }

        /// <summary>Makes a call with the options as the library takes them.</summary>
        internal unsafe TensorDictStore Call(Use use)
        {
            byte* stack = stackalloc byte[10 * Utf8.StackBytes];
            using var host = new Utf8Text(Host, nameof(Host), stack);
            using var socket = new Utf8Text(UnixSocket, nameof(UnixSocket), stack + Utf8.StackBytes);
            using var username = new Utf8Text(Username, nameof(Username), stack + (2 * Utf8.StackBytes));
            using var password = new Utf8Text(Password, nameof(Password), stack + (3 * Utf8.StackBytes));
            using var prefix = new Utf8Text(Prefix, nameof(Prefix), stack + (4 * Utf8.StackBytes));
            using var id = new Utf8Text(Id, nameof(Id), stack + (5 * Utf8.StackBytes));
            using var ca = new Utf8Text(TlsCa, nameof(TlsCa), stack + (6 * Utf8.StackBytes));
            using var cert = new Utf8Text(TlsCert, nameof(TlsCert), stack + (7 * Utf8.StackBytes));
            using var key = new Utf8Text(TlsKey, nameof(TlsKey), stack + (8 * Utf8.StackBytes));
            using var name = new Utf8Text(TlsServerName, nameof(TlsServerName), stack + (9 * Utf8.StackBytes));
            td_store_options raw = td_store_options.Default;
            raw.host = host.Pointer;
            raw.port = Port;
            raw.unix_socket = socket.Pointer;
            raw.username = username.Pointer;
            raw.password = password.Pointer;
            raw.prefix = prefix.Pointer;
            raw.id = id.Pointer;
            raw.db = Db;
            raw.timeout_ms = Timeout is TimeSpan time ? Math.Max(1, (long)time.TotalMilliseconds) : 0;
            if (Timeout == System.Threading.Timeout.InfiniteTimeSpan)
            {
                raw.timeout_ms = -1;
            }
            raw.max_bytes = MaxBytes;
            raw.tls = Tls ? 1 : 0;
            raw.tls_ca = ca.Pointer;
            raw.tls_cert = cert.Pointer;
            raw.tls_key = key.Pointer;
            raw.tls_server_name = name.Pointer;
            td_store* result = null;
            Status.Check(use(&raw, &result));
            return new TensorDictStore(result);
        }
    }
}
