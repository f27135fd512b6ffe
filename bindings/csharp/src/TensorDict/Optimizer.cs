using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>Which rule an <see cref="Optimizer"/> follows, with Python's defaults.</summary>
    public sealed record OptimizerOptions
    {
        private readonly td_optimizer_kind kind;

        private OptimizerOptions(td_optimizer_kind kind, double weightDecay)
        {
            this.kind = kind;
            WeightDecay = weightDecay;
        }

        /// <summary>Stochastic gradient descent.</summary>
        public static OptimizerOptions Sgd => new OptimizerOptions(td_optimizer_kind.TD_OPTIMIZER_SGD, 0);

        /// <summary>Adam.</summary>
        public static OptimizerOptions Adam => new OptimizerOptions(td_optimizer_kind.TD_OPTIMIZER_ADAM, 0);

        /// <summary>AdamW: Adam with decoupled weight decay.</summary>
        public static OptimizerOptions AdamW => new OptimizerOptions(td_optimizer_kind.TD_OPTIMIZER_ADAMW, 0.01);

        /// <summary>The learning rate.</summary>
        public double LearningRate { get; set; } = 1e-3;

        /// <summary>How strongly parameters are drawn to zero; 0, for AdamW 0.01.</summary>
        public double WeightDecay { get; set; }

        /// <summary>SGD: momentum.</summary>
        public double Momentum { get; set; }

        /// <summary>SGD: how much of each new gradient the momentum leaves out.</summary>
        public double Dampening { get; set; }

        /// <summary>SGD: Nesterov momentum.</summary>
        public bool Nesterov { get; set; }

        /// <summary>Adam and AdamW: how slowly the mean of gradients changes.</summary>
        public double Beta1 { get; set; } = 0.9;

        /// <summary>Adam and AdamW: how slowly the mean of their squares changes.</summary>
        public double Beta2 { get; set; } = 0.999;

        /// <summary>Adam and AdamW: what is added to the denominator.</summary>
        public double Epsilon { get; set; } = 1e-8;

        /// <summary>Adam and AdamW: the AMSGrad variant.</summary>
        public bool AmsGrad { get; set; }

        internal td_optimizer_kind Kind => kind;

        internal td_optimizer_options Raw()
        {
            td_optimizer_options raw = td_optimizer_options.Default;
            raw.flags = (Nesterov ? td_optimizer_flags.TD_OPTIMIZER_NESTEROV : 0)
                | (AmsGrad ? td_optimizer_flags.TD_OPTIMIZER_AMSGRAD : 0);
            raw.lr = LearningRate;
            raw.weight_decay = WeightDecay;
            raw.momentum = Momentum;
            raw.dampening = Dampening;
            raw.beta1 = Beta1;
            raw.beta2 = Beta2;
            raw.eps = Epsilon;
            return raw;
        }
    }

    /// <summary>Gradient descent on the tensors of a dictionary that require gradients.</summary>
    public sealed unsafe class Optimizer : IDisposable
    {
        private readonly OptimizerHandle handle;

        /// <summary>
        /// Keeps these tensors, not the dictionary; <see cref="TensorDictModule.GetParams"/> gives those of a module.
        /// </summary>
        public Optimizer(TensorDict parameters, OptimizerOptions options)
        {
            using var source = Argument.NotNull(parameters, nameof(parameters)).Handle.Borrow();
            td_optimizer_options raw = Argument.NotNull(options, nameof(options)).Raw();
            td_optimizer* result = null;
            Status.Check(Native.td_optimizer_create(source.Pointer, options.Kind, &raw, &result));
            handle = new OptimizerHandle(result);
        }

        /// <summary>The learning rate; a schedule sets it.</summary>
        public double LearningRate
        {
            get
            {
                using var own = handle.Borrow();
                double result = 0;
                Status.Check(Native.td_optimizer_lr(own.Pointer, &result));
                return result;
            }

            set
            {
                using var own = handle.Borrow();
                Status.Check(Native.td_optimizer_set_lr(own.Pointer, value));
            }
        }

        /// <summary>Changes each parameter that has a gradient, in place, by one step.</summary>
        public void Step()
        {
            using var own = handle.Borrow();
            Status.Check(Native.td_optimizer_step(own.Pointer));
        }

        /// <summary>Takes the gradients away before the next Backward adds to them, or fills them with zeros.</summary>
        public void ZeroGrad(bool setToNull = true)
        {
            using var own = handle.Borrow();
            Status.Check(Native.td_optimizer_zero_grad(own.Pointer, setToNull ? 0 : td_zero_grad_flags.TD_ZERO_GRAD_KEEP));
        }

        /// <summary>
        /// A copy of what it remembers, for a checkpoint: in the place of each parameter a dictionary.
        /// </summary>
        public TensorDict GetState()
        {
            using var own = handle.Borrow();
            td_tensordict* result = null;
            Status.Check(Native.td_optimizer_state(own.Pointer, &result));
            using TensorDict state = TensorDict.Own(result);
            return state.Clone();
        }

        /// <summary>Takes a state in place of its own. Parameters that are not in it start anew.</summary>
        public void LoadState(TensorDict state)
        {
            using var own = handle.Borrow();
            using var source = Argument.NotNull(state, nameof(state)).Handle.Borrow();
            Status.Check(Native.td_optimizer_load_state(own.Pointer, source.Pointer));
        }

        /// <summary>Gives the optimiser back. The parameters stay.</summary>
        public void Dispose() => handle.Dispose();
    }
}
