// Who may call what, written out: a role or scope that is added or lost by mistake shows in callers.txt, which says it
// without the code that enforces it.
import type { Operation } from '@svc/core/kernel/index.ts';
import { operations, staffOperations } from '@svc/core/operations/index.ts';
import { expect, test } from 'vitest';

const HEADER = `# Who may call each operation. Written anew by: vitest run test/registry/callers.test.ts -u
# key: the scopes of which one is enough; live, test: keys of that environment alone. people: roles that may as well.
# of a reseller with: the organization is one, and the person has the grant, as its owners and admins have.
# proved: a person must have given a proof in the last 15 minutes. once: takes an Idempotency-Key.
`;
const list = (names: readonly string[] | 'any') => (names === 'any' ? 'any' : names.join(', '));

function environmentOf(sandbox: boolean | 'only' | undefined): string {
  if (sandbox === 'only') return ' (test)';
  return sandbox === false ? ' (live)' : '';
}

function whoOf({ audience }: Operation): string {
  const proved = 'reauthenticated' in audience && audience.reauthenticated === true ? ', proved' : '';
  switch (audience.kind) {
    case 'key': {
      const { scopes, sandbox, session } = audience;
      const people = session === undefined ? '' : `; people: ${list(session)}${proved}`;
      return `key: ${list(scopes)}${environmentOf(sandbox)}${people}`;
    }
    case 'session': {
      const { reseller } = audience;
      const grant =
        reseller === undefined ? '' : `, of a reseller${reseller === 'any' ? '' : ` with ${reseller}`}`;
      return `people: ${list(audience.roles)}${grant}${proved}`;
    }
    case 'staff':
      return `staff: ${list(audience.roles)}`;
    default:
      return audience.kind;
  }
}

test('who may call each operation is as it is written down', async () => {
  const lines = [...operations, ...staffOperations].map((operation) => {
    const once = operation.idempotent === true ? '; once' : '';
    return `${operation.path} ${operation.method} ${operation.name} | ${whoOf(operation)}${once}`;
  });
  await expect(`${HEADER}${lines.sort().join('\n')}\n`).toMatchFileSnapshot('callers.txt');
});
