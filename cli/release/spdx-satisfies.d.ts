// The package has no types of its own.
declare module 'spdx-satisfies' {
  /** Whether `expression` can be met by `licenses` alone. @throws Error when it is no SPDX expression. */
  export default function satisfies(expression: string, licenses: readonly string[]): boolean;
}
