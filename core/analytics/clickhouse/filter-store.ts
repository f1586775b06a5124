// What is asked of rows, as conditions of a statement with their parameters.
import type { RowFilter } from '../store.ts';
import type { CallerFilter } from '../usage/caller-filters.ts';

/** A parameter that is a time in milliseconds. */
export const at = (name: string) => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`;
const EXACT = {
  project_id: 'String',
  key_id: 'String',
  model: 'String',
  provider: 'String',
  status: 'String',
};

interface Asked {
  /** Begins with `and`, or is empty. */
  readonly text: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** What is asked of what a caller said of a call. */
export function saidOf({ user, session, app, tag, tag_value }: CallerFilter): Asked {
  const parts: string[] = [];
  const named = { user_hash: user, session_id: session, app_id: app };
  const exact = Object.entries(named).filter(([, value]) => value !== null);
  for (const [name] of exact) parts.push(` and ${name} = {${name}:String}`);
  if (tag !== null) {
    parts.push(
      tag_value === null
        ? ' and mapContains(tags, {said_tag:String})'
        : ' and tags[{said_tag:String}] = {said_value:String}',
    );
  }
  return {
    text: parts.join(''),
    values: {
      ...Object.fromEntries(exact),
      ...(tag === null ? {} : { said_tag: tag }),
      ...(tag === null || tag_value === null ? {} : { said_value: tag_value }),
    },
  };
}

/** What a filter asks of a row, and its parameters. */
export function filtered(filter: RowFilter): Asked {
  const { since, until, errors_only, fallbacks_only, min_cost_micro, max_cost_micro, q, ...others } = filter;
  const { user, session, app, tag, tag_value, ...rest } = others;
  // Whatever is added to filters does not compile until it is asked here.
  const exact: Readonly<Record<keyof typeof EXACT, string | null>> & {
    [K in Exclude<keyof typeof rest, keyof typeof EXACT>]: never;
  } = rest;
  const parts: string[] = [];
  const values: Record<string, unknown> = {};
  const ask = (condition: string, name: string, value: unknown) => {
    if (value === null) return;
    parts.push(` and ${condition}`);
    values[name] = value;
  };
  ask(`ts >= ${at('since')}`, 'since', since?.getTime() ?? null);
  ask(`ts < ${at('before')}`, 'before', until?.getTime() ?? null);
  for (const name of Object.keys(EXACT) as (keyof typeof EXACT)[])
    ask(`${name} = {${name}:String}`, name, exact[name]);
  if (errors_only) parts.push(` and status in ('error', 'rejected')`);
  if (fallbacks_only) parts.push(' and attempts > 1');
  ask('cost_micro >= {least:Int64}', 'least', min_cost_micro);
  ask('cost_micro <= {most:Int64}', 'most', max_cost_micro);
  ask('startsWith(request_id, {q:String})', 'q', q);
  const said = saidOf({ user, session, app, tag, tag_value });
  return { text: parts.join('') + said.text, values: { ...values, ...said.values } };
}
