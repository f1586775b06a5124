// A connection that the server ends while a transaction holds it: PostgreSQL restarts, or an operator ends a session.
import { createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { atFileEnd } from '../../test/support/ends.ts';
import { createPool, isDatabaseFault } from './index.ts';

const url = await createTestDatabase();
const pool = createPool(url, { max: 1 });
const operator = createPool(url, { max: 1 });
atFileEnd(async () => {
  await pool.end();
  await operator.end();
});

const pidOf = 'select pg_backend_pid() as pid';
async function endSession(pid: number): Promise<void> {
  const text = 'select pg_terminate_backend($1, 10000) as ended';
  const { rows } = await operator.query<{ ended: boolean }>({ name: 'test.end', text, values: [pid] });
  expect(rows[0]?.ended).toBe(true);
}

/** Ends the session under a transaction, between two of its statements or during one. */
async function transactionLosing(during: boolean): Promise<unknown> {
  return pool
    .transaction(async (db) => {
      const { rows } = await db.query<{ pid: number }>({ name: 'test.pid', text: pidOf });
      const { pid } = rows[0] as { pid: number };
      if (during) {
        const asleep = db.query({ name: 'test.sleep', text: 'select pg_sleep(60)' });
        await Promise.all([asleep, endSession(pid)]);
      } else {
        await endSession(pid);
        await db.query({ name: 'test.pid', text: pidOf });
      }
    })
    .catch((error: unknown) => error);
}

test.each([
  ['between two statements', false],
  ['during a statement', true],
])(
  'a session that ends %s fails its transaction as a database fault, and neither process nor pool',
  async (_when, during) => {
    const error = await transactionLosing(during);
    expect([error, isDatabaseFault(error)]).toEqual([expect.any(Error), true]);
    const { rows } = await pool.query<{ one: number }>({ name: 'test.one', text: 'select 1 as one' });
    expect(rows).toEqual([{ one: 1 }]);
  },
);

test('a session that ends during a single statement of a role fails that statement, and neither process nor pool', async () => {
  const acting = createPool(url, { max: 1, role: 'svc_runtime' });
  atFileEnd(() => acting.end());
  const { rows } = await acting.query<{ pid: number }>({ name: 'test.pid', text: pidOf });
  const asleep = acting.query({ name: 'test.sleep', text: 'select pg_sleep(60)' });
  const failed = asleep.catch((error: unknown) => error);
  await endSession(rows[0]!.pid);
  expect(isDatabaseFault(await failed)).toBe(true);
  expect((await acting.query({ name: 'test.one', text: 'select 1 as one' })).rows).toEqual([{ one: 1 }]);
});

/** A message of PostgreSQL's protocol: its letter, the length of what follows, and that. */
function message(letter: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(letter), length, body]);
}

test('a server that ends in the moment in which a connection is ready fails what waited for it, and not the process', async () => {
  const fatal = 'SFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0';
  const said = [
    message('R', Buffer.alloc(4)),
    message('Z', Buffer.from('I')),
    message('E', Buffer.from(fatal)),
  ];
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.concat(said)));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  const dying = `postgres://nobody:nothing@127.0.0.1:${port}/none`;
  for (const role of [undefined, 'svc_runtime']) {
    const pool = createPool(dying, role === undefined ? {} : { role });
    await expect(pool.transaction(async () => {})).rejects.toThrow();
    await expect(pool.query({ name: 'test.one', text: 'select 1' })).rejects.toThrow();
    await pool.end();
  }
  await new Promise((done) => server.close(done));
});
