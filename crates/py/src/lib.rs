//! Python bindings: converts, holds no logic.
