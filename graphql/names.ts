// GraphQL uses camelCase and upper-case enum values, everything else snake_case. This is the one place that converts
// between them.

/** `amount_micro_usd` → `amountMicroUsd`. */
export function camel(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** `amount_micro_usd` → `AmountMicroUsd`. */
export function pascal(name: string): string {
  const text = camel(name);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `read:usage` → `READ_USAGE`; `24h` → `H24`, because a GraphQL name must begin with a letter. */
export function enumName(value: string): string {
  const upper = value.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
  return upper.replace(/^(\d+)([A-Z])$/, '$2$1');
}

/** A dotted path of REST as a path in the `input` argument: `limits.rpm` → `['input', 'limits', 'rpm']`. */
export function inputPath(param: string | null): string[] | null {
  if (param === null) return null;
  const parts = param.split(/[.[\]]+/).filter((part) => part !== '');
  return ['input', ...parts.map(camel)];
}
