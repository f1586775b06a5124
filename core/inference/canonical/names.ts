// The names of wire formats, as types. Each format of the program adds its own by declaration merging.
/** Families of providers. Each format adds its name in its `index.ts`. */
// biome-ignore lint/suspicious/noEmptyInterface: formats fill it.
export interface Families {}
/** Dialects of callers. Each format adds its name in its `index.ts`. */
// biome-ignore lint/suspicious/noEmptyInterface: formats fill it.
export interface Dialects {}
/** Wire format of a provider endpoint. */
export type Family = keyof Families;
/** Wire format of a caller. */
export type DialectName = keyof Dialects;
