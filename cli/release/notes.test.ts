import { expect, test } from 'vitest';
import { notesOf, type Tree } from './notes.ts';

function tree(files: Readonly<Record<string, string>>): Tree {
  return {
    read: async (path) => files[path] ?? null,
    list: async (folder) =>
      Object.keys(files)
        .filter((path) => path.startsWith(`${folder}/`) && !path.slice(folder.length + 1).includes('/'))
        .map((path) => path.slice(folder.length + 1)),
  };
}

const old = tree({
  'core/db/migrations/0001_start.sql': '-- compatible_from: 0001',
  'docs/configuration.md': '| `SVC_PORT` | `8080` | port |\n| `SVC_OLD` | unset | gone soon |\n',
  'charts/svc/README.md': '| `image.tag` | `""` | Tag. |\n',
  'test/registry/callers.txt':
    '/v1/models GET models.list | public\n/v1/keys GET keys.list | people: owner\n',
  'docs/errors.md': '| `invalid_json` | 400 | x |\n',
  'graphql/tenant/schema.graphql': 'type Query { me: String, org: String }',
});
const now = tree({
  'core/db/migrations/0001_start.sql': '-- compatible_from: 0001',
  'core/db/migrations/0002_more.sql': '-- compatible_from: 0001\ncreate table more ();',
  'core/db/migrations/ledger/0001_books.sql': 'create table book ();',
  'docs/configuration.md': '| `SVC_PORT` | `9090` | port |\n| `SVC_NEW` | unset | new |\n',
  'charts/svc/README.md': '| `image.tag` | `""` | Tag. |\n| `image.digest` | `""` | Digest. |\n',
  'test/registry/callers.txt':
    '/v1/models GET models.list | public\n/v1/keys GET keys.list | people: owner, admin\n/v1/plans GET plans.list | public\n',
  'docs/errors.md': '| `invalid_json` | 400 | x |\n| `payment_hold` | 402 | y |\n',
  'graphql/tenant/schema.graphql': 'type Query { me: String }',
});

test('notes say what whoever upgrades and whoever calls must know, computed from both releases', async () => {
  const subjects = ['Say when a key expires', 'Begin the calls of a run in order'];
  expect(await notesOf({ before: 'v1.0.0', tag: 'v1.1.0', old, new: now, subjects })).toMatchInlineSnapshot(`
    "# v1.1.0

    Changes since v1.0.0.

    ## For those who upgrade

    Migrations, in their order (\`npx svcctl migrate\` before the programs are changed):

    - \`0002_more.sql\`, programs from migration 0001 on work with it
    - \`0001_books.sql\` (ledger)

    Settings that are new:

    - \`SVC_NEW\`

    Settings that are gone, and refused as unknown at the start:

    - \`SVC_OLD\`

    Settings whose default or meaning is another:

    - \`SVC_PORT\`

    Values of the chart that are new:

    - \`image.digest\`

    ## For those who call

    Operations that are new:

    - \`GET /v1/plans\`

    Operations whose callers are others than before:

    - \`GET /v1/keys\`

    Error codes that are new:

    - \`payment_hold\`

    GraphQL:

    - tenant, breaks clients: Query.org was removed.

    ## Commits

    2 since v1.0.0:

    - Say when a key expires
    - Begin the calls of a run in order
    "
  `);
});

test('the first release has nothing to compare itself with', async () => {
  const notes = await notesOf({ before: '', tag: 'v1.0.0', old: null, new: now, subjects: ['All of it'] });
  expect(notes).toBe('# v1.0.0\n\nThe first release.\n');
});
