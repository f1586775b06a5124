// Whether Temporal knows the search attributes: registers those that are missing where the worker may, and goes without them
// where it may not, because a server refuses a start with one that it does not know.
import type { Log } from '@svc/core/kernel/index.ts';
import type { NativeConnection } from '@temporalio/worker';
import { orgKey, stateKey } from './search.ts';

const KEYS = [orgKey, stateKey];
/** Of temporal.api.enums.v1.IndexedValueType. */
const KEYWORD = 2;

async function ensure({ operatorService }: NativeConnection, namespace: string): Promise<void> {
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const known = customAttributes ?? {};
  const wrong = KEYS.find(({ name }) => (known[name] ?? KEYWORD) !== KEYWORD);
  if (wrong !== undefined) throw new Error(`the search attribute ${wrong.name} is not of the type Keyword`);
  const missing = KEYS.filter(({ name }) => known[name] === undefined);
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing.map(({ name }) => [name, KEYWORD]));
  await operatorService.addSearchAttributes({ namespace, searchAttributes });
}

/** Whether workflows can be started with search attributes. Never throws. */
export async function canSearch(
  connection: NativeConnection,
  { namespace, log }: { namespace: string; log: Log },
): Promise<boolean> {
  try {
    await ensure(connection, namespace);
    return true;
  } catch (error) {
    log.warn({ namespace, error }, 'Temporal has no search attributes of ours; workflows start without them');
    return false;
  }
}
