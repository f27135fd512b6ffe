//! The methods of options that set one field each.

/// `/// What it says.` and `name(value: type) => field;` for each.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($value:ident: $type:ty) => $($field:ident).+;)+) => {$(
        $(#[$doc])*
        pub fn $name(mut self, $value: $type) -> Self {
            self.$($field).+ = $value.into();
            self
        }
    )+};
}
