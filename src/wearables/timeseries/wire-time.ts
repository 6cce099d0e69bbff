// Instants as the API and events show them.

/** Whole seconds: the strictest reader of published clients fails on fractions. */
export const wireTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}+00:00`
