// What REST says, as GraphQL says it.
import { camel } from '@svc/graphql/names.ts';

export type Value = Record<string, unknown>;
const money = /^(?:.*Micro|.*MicroUsd|microUsd|.*Minor)$/;

/** A value of REST as GraphQL says it: camelCase names, money as text, enums upper case where GraphQL has them so. */
export function asGraphql(value: unknown, graphql: unknown, name = ''): unknown {
  if (Array.isArray(value)) {
    return value.map((item, at) => asGraphql(item, (graphql as unknown[])[at], name));
  }
  if (typeof value === 'object' && value !== null) {
    const shown = graphql as Value;
    return Object.fromEntries(
      Object.keys(shown).map((key) => {
        const wire = Object.keys(value).find((member) => camel(member) === key) ?? 'id';
        const member =
          key === 'id' && !('id' in value) ? (value as Value)['request_id'] : (value as Value)[wire];
        return [key, asGraphql(member, shown[key], key)];
      }),
    );
  }
  if (typeof value === 'number' && money.test(name)) return String(value);
  if (
    typeof value === 'string' &&
    typeof graphql === 'string' &&
    /^[A-Z0-9_]+$/.test(graphql) &&
    !/[A-Z]/.test(value)
  ) {
    return value.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
  }
  return value;
}
