// The names of wire formats. Types know those that the formats of the program declare.
/** Families of providers. Each format adds the name of its own in its `index.ts`. */
// biome-ignore lint/suspicious/noEmptyInterface: formats fill it.
export interface Families {}
/** Dialects of callers, likewise. */
// biome-ignore lint/suspicious/noEmptyInterface: formats fill it.
export interface Dialects {}
/** Wire format of a provider endpoint. */
export type Family = keyof Families;
/** Wire format of a caller. */
export type DialectName = keyof Dialects;
