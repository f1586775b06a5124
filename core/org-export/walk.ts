// Rows of an export are those that REST answers with: the same operations are run, as the owner who downloads it, page after page.
// So there is no second form of anything, and what an owner may not see is not in an export either.
import { type Context, type Environment, FileAnswer, orgCaller, ServiceError } from '../kernel/index.ts';
import type { Pages, Source } from './types.ts';

/** Rows of a page: so many that statements are few, and so few that a page is small. */
export const PAGE = 200;

/** What of an operation is needed to run it. */
interface Asked {
  readonly name: string;
  run(context: Context, input: never): Promise<unknown>;
}
type InputOf<Op extends Asked> = Parameters<Op['run']>[1];
type AnswerOf<Op extends Asked> = Exclude<Awaited<ReturnType<Op['run']>>, FileAnswer>;

interface Listing extends Asked {
  run(
    context: Context,
    input: never,
  ): Promise<{ readonly data: readonly object[]; readonly next_cursor: string } | FileAnswer>;
}

/** The same owner, reading the rows of `environment`. Headers are those of the archive, which has begun. */
function inEnvironment(context: Context, environment: Environment): Context {
  const caller = { ...orgCaller(context), environment };
  return {
    ...{ request_id: context.request_id, caller, db: context.db, shards: context.shards, log: context.log },
    ...{ services: context.services, client_ip: context.client_ip },
    get acrossOrgs() {
      return context.acrossOrgs;
    },
    now: () => context.now(),
    newId: (kind) => context.newId(kind),
    transaction: (work) => context.transaction(work),
    afterCommit: (effect) => context.afterCommit(effect),
    header() {},
    requestHeader: () => null,
  };
}

/** What is exported for the caller of `context`. */
export function sourceOf(context: Context): Source {
  const { org_id } = orgCaller(context);
  return { org_id, live: inEnvironment(context, 'live'), test: inEnvironment(context, 'test') };
}

/** The answer of an operation. @throws Error (a defect) when it answers with a file. */
export async function answerOf<Op extends Asked>(
  context: Context,
  operation: Op,
  input: InputOf<Op>,
): Promise<AnswerOf<Op>> {
  const answer = await operation.run(context, input as never);
  if (answer instanceof FileAnswer) throw new Error(`${operation.name} answered with a file`);
  return answer as AnswerOf<Op>;
}

/** All rows of a list, `limit` a page. */
export async function* pagesOf<Op extends Listing>(
  context: Context,
  operation: Op,
  input: Omit<InputOf<Op>, 'limit' | 'cursor'>,
  limit: number = PAGE,
): AsyncGenerator<AnswerOf<Op>['data']> {
  for (let cursor = ''; ; ) {
    const given = { ...input, limit, ...(cursor === '' ? {} : { cursor }) };
    const { data, next_cursor } = await answerOf(context, operation, given as InputOf<Op>);
    yield data;
    if (next_cursor === '') return;
    cursor = next_cursor;
  }
}

/** Rows that come at once. */
export async function* once(rows: Promise<readonly object[]>): Pages {
  yield await rows;
}

/** The one row of an answer; none where there is nothing to answer with. */
export async function oneWhenThere(row: Promise<object>): Promise<readonly object[]> {
  try {
    return [await row];
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_found') return [];
    throw error;
  }
}

/** `pages` of both environments, each row with its own in front. */
export async function* ofBoth(
  source: Source,
  pages: (context: Context, environment: Environment) => Pages,
): Pages {
  for (const environment of ['live', 'test'] as const)
    for await (const page of pages(source[environment], environment))
      yield page.map((row) => ({ environment, ...row }));
}

/** Each row of `pages` with what belongs to it, in pages of its own. */
export async function* under<Row>(pages: AsyncIterable<readonly Row[]>, inside: (row: Row) => Pages): Pages {
  for await (const page of pages) for (const row of page) yield* inside(row);
}
