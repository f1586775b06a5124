// What a caller said of a call, as filters of lists and sums: end user, session, app and tag.
import { type Static, Type } from 'typebox';
import { invalid } from '../../kernel/index.ts';

const Name = (description: string) => Type.Optional(Type.String({ description }));
export const callerFilters = {
  user: Name('the `user_hash` of an end user; empty: calls without one'),
  session: Name('a `session_id`; empty: calls without one'),
  app: Name('an `app_id`; empty: calls without one'),
  tag: Name('the name of a tag; alone, calls that have it'),
  tag_value: Name('what `tag` is; empty: calls that do not have it'),
};
const CallerFilterInput = Type.Object(callerFilters);

export interface CallerFilter {
  readonly user: string | null;
  readonly session: string | null;
  readonly app: string | null;
  readonly tag: string | null;
  readonly tag_value: string | null;
}

/** @throws ServiceError invalid_request for a value of a tag without its name. */
export function callerFilterOf(input: Static<typeof CallerFilterInput>): CallerFilter {
  const { user = null, session = null, app = null, tag = null, tag_value = null } = input;
  if (tag_value !== null && (tag ?? '') === '') {
    throw invalid('tag', 'missing', 'tag_value needs tag, the name of the tag.');
  }
  return { user, session, app, tag: tag === '' ? null : tag, tag_value };
}
