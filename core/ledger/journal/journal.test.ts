// What a journal is on disk, whose it is, and what becomes of its file.
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { crc32, newRequestId, silentLog } from '../../kernel/index.ts';
import { journalDirectory, keptLog, settleOf, until } from '../testing/testing.ts';
import { Journal, readJournal } from './journal.ts';

const subject = { book_id: 1, key_no: 2, project_no: 3 };
const aSettle = (cost = 1) => settleOf(subject, newRequestId(), cost);

let dir: string;
let remove: () => void;
beforeEach(() => {
  ({ dir, remove } = journalDirectory());
});
afterEach(() => remove());

const files = () => readdirSync(dir);
const only = () => join(dir, files()[0] as string);
const read = () => readJournal(readFileSync(only(), 'utf8'));

/** The text of a journal with one settle, and the parts of its owner's name. */
async function written(): Promise<{ text: string; owner: string[]; settle: ReturnType<typeof aSettle> }> {
  const journal = new Journal(dir, silentLog);
  const settle = aSettle();
  await journal.append([settle]);
  const found = { text: readFileSync(only(), 'utf8'), owner: (files()[0] as string).split('~'), settle };
  journal.booked(settle.request_id);
  await journal.close();
  expect(files()).toEqual([]);
  return found;
}

const adopt = () => new Journal(dir, silentLog).adopt();
const MINUTE_MS = 60_000;

test('the journal of another host is adopted once its owner has not touched it for ten minutes, and not before', async () => {
  const { text, owner, settle } = await written();
  const path = join(dir, ['other-host', ...owner.slice(1)].join('~'));
  writeFileSync(path, text);
  const untouchedFor = (ms: number) => utimesSync(path, new Date(), new Date(Date.now() - ms));
  untouchedFor(9 * MINUTE_MS);
  expect(await adopt()).toEqual([]);
  untouchedFor(11 * MINUTE_MS);
  expect(await adopt()).toEqual([settle]);
});

test('an owner that lives shows it to other hosts', async () => {
  const journal = new Journal(dir, silentLog);
  // Without a file there is nothing to show.
  await journal.touch();
  expect(files()).toEqual([]);
  await journal.append([aSettle()]);
  utimesSync(only(), new Date(0), new Date(0));
  await journal.touch();
  expect(Date.now() - statSync(only()).mtimeMs).toBeLessThan(MINUTE_MS);
  await journal.close();
});

test('on the same host a journal belongs to its process as long as that lives, and a reused number is another process', async () => {
  const { text, owner, settle } = await written();
  const [host, , start, nonce] = owner as [string, string, string, string];
  const parent = readFileSync(`/proc/${process.ppid}/stat`, 'utf8');
  const since = parent.slice(parent.lastIndexOf(')') + 2).split(' ')[19] as string;
  const of = async (pid: number, begun: string) => {
    writeFileSync(join(dir, [host, pid, begun, nonce].join('~')), text);
    const adopted = await adopt();
    rmSync(dir, { recursive: true });
    mkdirSync(dir);
    return adopted;
  };
  expect(await of(process.ppid, since)).toEqual([]);
  expect(await of(process.ppid, `${since}1`)).toEqual([settle]);
  // No process has this number.
  expect(await of(2 ** 30, start)).toEqual([settle]);
  expect(await of(2 ** 30, '')).toEqual([settle]);
  // Of this very process, and no client of it owns it.
  expect(await of(process.pid, start)).toEqual([settle]);
});

test('what is no journal is left alone, and a directory that is not there has none', async () => {
  const { text, owner } = await written();
  const aside = [owner.slice(0, 1), process.pid, 1, 'nonce.journal.damaged'].flat().join('~');
  writeFileSync(join(dir, aside), text);
  expect(await adopt()).toEqual([]);
  expect(files()).toEqual([aside]);
  expect(await new Journal(join(dir, 'none'), silentLog).adopt()).toEqual([]);
});

test('what was adopted is on disk as this process’s own, until it is booked', async () => {
  const { text, owner, settle } = await written();
  const [host, pid, , nonce] = owner;
  writeFileSync(join(dir, [host, pid, 1, nonce].join('~')), text);
  const journal = new Journal(dir, silentLog);
  expect(await journal.adopt()).toEqual([settle]);
  expect(journal.size).toBe(1);
  expect(read()).toEqual({ settles: [settle], damaged: 0 });
  expect(files()).toHaveLength(1);
  expect(await adopt()).toEqual([]);
  await journal.close();
  // Closed, it belongs to nobody and is there for the next client.
  expect(await adopt()).toEqual([settle]);
});

test('a file that another process took over is begun anew with all that is open', async () => {
  const journal = new Journal(dir, silentLog);
  const [first, booked, last] = [aSettle(1), aSettle(2), aSettle(3)];
  await journal.append([first, booked]);
  journal.booked(booked.request_id);
  renameSync(only(), `${dir}/taken`);
  await journal.append([last]);
  rmSync(join(dir, 'taken'));
  expect(read()).toEqual({ settles: [first, last], damaged: 0 });
  expect(journal.size).toBe(2);
  await journal.close();
});

test('a disk that refuses makes the append fail, and the next one tries again; what is on it is for its owner alone', async () => {
  const place = join(dir, 'below', 'journals');
  writeFileSync(join(dir, 'below'), 'a file where a directory should be');
  const journal = new Journal(place, silentLog);
  await expect(journal.append([aSettle(1)])).rejects.toThrow();
  expect(journal.size).toBe(0);
  rmSync(join(dir, 'below'));
  const settle = aSettle(2);
  await journal.append([settle]);
  const path = join(place, readdirSync(place)[0] as string);
  expect(readJournal(readFileSync(path, 'utf8')).settles).toEqual([settle]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await journal.close();
});

test('a directory that takes no file makes the append fail', async () => {
  const append = new Journal('/proc/self', silentLog).append([aSettle()]);
  await expect(append).rejects.toMatchObject({ syscall: 'open' });
});

test('an acknowledgement of what was never written is none, and each settle is booked once', async () => {
  const journal = new Journal(dir, silentLog);
  const [one, two] = [aSettle(1), aSettle(2)];
  journal.booked(one.request_id);
  await journal.append([one, two]);
  journal.booked(one.request_id);
  journal.booked(one.request_id);
  await journal.close();
  expect(readFileSync(only(), 'utf8').split('\n')).toHaveLength(4);
  expect(read().settles).toEqual([two]);
});

test('a line is whole when its checksum is that of its text', () => {
  const settle = aSettle();
  const text = `{"settle":${JSON.stringify(settle)}}`;
  expect(readJournal(`00000000 ${text}\n`)).toEqual({ settles: [], damaged: 1 });
  expect(readJournal(`not a checksum at all\n\n`)).toEqual({ settles: [], damaged: 1 });
  expect(readJournal('')).toEqual({ settles: [], damaged: 0 });
});

test('a journal bears the name of its host, which says to others whether they can know its process', async () => {
  const { owner } = await written();
  expect(owner[0]).toBe(hostname().replaceAll(/[^A-Za-z0-9.-]/g, '_'));
});

test('what is appended goes into one file, each settle on a line of its own', async () => {
  const journal = new Journal(dir, silentLog);
  const settles = [aSettle(1), aSettle(2), aSettle(3)];
  for (const settle of settles) await journal.append([settle]);
  expect(files()).toHaveLength(1);
  expect(readFileSync(only(), 'utf8').split('\n')).toHaveLength(4);
  expect(read()).toEqual({ settles, damaged: 0 });
  await journal.close();
});

test('a checksum that begins with a zero is as long as any other', async () => {
  const journal = new Journal(dir, silentLog);
  let settle = aSettle();
  while (crc32(JSON.stringify({ settle })) >= 0x1000_0000) settle = aSettle();
  await journal.append([settle]);
  expect(read()).toEqual({ settles: [settle], damaged: 0 });
  await journal.close();
});

test('a file in which nothing is open goes when it is closed, and no directory stays open', async () => {
  const journal = new Journal(dir, silentLog);
  await journal.append([]);
  expect(files()).toHaveLength(1);
  await journal.close();
  expect(files()).toEqual([]);
  const open = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      // The one that read the list.
      return '';
    }
  });
  expect(open).not.toContain(dir);
});

test('what is booked while the disk refuses is not written again when it does not, and nobody is alarmed', async () => {
  const { log, lines } = keptLog();
  const journal = new Journal(dir, log);
  const [booked, open, last] = [aSettle(1), aSettle(2), aSettle(3)];
  await journal.append([booked, open]);
  rmSync(dir, { recursive: true });
  writeFileSync(dir, 'a file where a directory should be');
  await expect(journal.append([aSettle(4)])).rejects.toThrow();
  journal.booked(booked.request_id);
  rmSync(dir);
  await journal.append([last]);
  expect(read()).toEqual({ settles: [open, last], damaged: 0 });
  expect(lines).toEqual([]);
  await journal.close();
});

test('a journal that has gone since the directory was read is nobody’s', async () => {
  symlinkSync(join(dir, 'gone'), join(dir, 'other-host~1~1~nonce.journal'));
  expect(await adopt()).toEqual([]);
});

test('while one adopts, what it adopts is in nobody else’s reach', async () => {
  const { text, owner, settle } = await written();
  const [host, pid, , nonce] = owner;
  writeFileSync(join(dir, [host, pid, 1, nonce].join('~')), text);
  const journal = new Journal(dir, silentLog);
  let ended = false;
  const adopting = journal.adopt().finally(() => {
    ended = true;
  });
  // The first may be faster than the one that is tested; then it has the settle, and the other nothing.
  const others = [];
  while (!ended) others.push(...(await adopt()));
  expect([...(await adopting), ...others]).toEqual([settle]);
  await journal.close();
});

test('nothing of a live client is taken by others of its process, from the first line of its file to the last', async () => {
  const other = new Journal(dir, silentLog);
  // A file is ours a moment before it is there and a moment after it has gone: four who look all the time find such a moment in
  // one of three rounds where that is not so.
  for (let round = 0; round < 30; round++) {
    const journal = new Journal(dir, silentLog);
    const settle = aSettle();
    let ended = false;
    const looking = Array.from({ length: 4 }, async () => {
      const found = [];
      while (!ended) found.push(...(await other.adopt()));
      return found;
    });
    try {
      await journal.append([settle]);
      expect(read()).toEqual({ settles: [settle], damaged: 0 });
      journal.booked(settle.request_id);
      await journal.close();
    } finally {
      ended = true;
    }
    expect((await Promise.all(looking)).flat()).toEqual([]);
    expect(files()).toEqual([]);
  }
});

test('of a dead process that left nothing open nothing is taken, written or said', async () => {
  const { owner } = await written();
  const [host, pid, , nonce] = owner;
  writeFileSync(join(dir, [host, pid, 1, nonce].join('~')), '');
  const { log, lines } = keptLog();
  expect(await new Journal(dir, log).adopt()).toEqual([]);
  expect([files(), lines]).toEqual([[], []]);
});

test('what is adopted is said, and that lines are damaged, with the file where they are', async () => {
  const { text, owner } = await written();
  const [host, pid, , nonce] = owner;
  writeFileSync(join(dir, [host, pid, 1, nonce].join('~')), `00000000 {}\n${text}`);
  const { log, lines } = keptLog();
  const journal = new Journal(dir, log);
  await journal.adopt();
  const damaged = files().find((name) => name.endsWith('.damaged')) as string;
  expect(lines).toMatchObject([
    { level: 'error', journal: join(dir, damaged.replace('.damaged', '')), damaged: 1 },
    { level: 'info', settles: 1 },
  ]);
  await journal.close();
});

const someSettles = (n: number) =>
  Array.from({ length: n }, (_, i) => settleOf(subject, newRequestId(), i + 1));
/** A name whose owner cannot be alive: this host, a process of another start time. */
const deadName = (dir: string) => {
  const own = readdirSync(dir)[0] as string;
  return own.replace(/~\d+~\d+~/, `~${process.pid}~1~`);
};

test('what was appended is read back without what is booked, and the file goes with the last one', async () => {
  const { dir, remove } = journalDirectory();
  const journal = new Journal(dir, silentLog);
  const settles = someSettles(3);
  await journal.append(settles);
  journal.booked(settles[1]!.request_id);
  await until(() => readFileSync(join(dir, readdirSync(dir)[0] as string), 'utf8').includes('booked'));
  const text = readFileSync(join(dir, readdirSync(dir)[0] as string), 'utf8');
  expect(readJournal(text)).toEqual({ settles: [settles[0], settles[2]], damaged: 0 });
  journal.booked(settles[0]!.request_id);
  journal.booked(settles[2]!.request_id);
  await until(() => readdirSync(dir).length === 0);
  await journal.close();
  expect(readdirSync(dir)).toEqual([]);
  remove();
});

test('every prefix of a journal is read up to its last whole line; a torn line is never taken for a settle', async () => {
  const { dir, remove } = journalDirectory();
  const journal = new Journal(dir, silentLog);
  const settles = someSettles(3);
  await journal.append(settles);
  const text = readFileSync(join(dir, readdirSync(dir)[0] as string), 'utf8');
  for (let length = 0; length <= text.length; length++) {
    const whole = text.slice(0, length).split('\n').length - 1;
    expect(readJournal(text.slice(0, length))).toEqual({ settles: settles.slice(0, whole), damaged: 0 });
  }
  expect(readJournal(text.replace('"cost_micro_usd":2', '"cost_micro_usd":9'))).toEqual({
    settles: [settles[0], settles[2]],
    damaged: 1,
  });
  await journal.close();
  remove();
});

test('the journal of a dead process is adopted by exactly one, that of a live one by none', async () => {
  const { dir, remove } = journalDirectory();
  const journal = new Journal(dir, silentLog);
  const settles = someSettles(2);
  await journal.append(settles);
  const others = [new Journal(dir, silentLog), new Journal(dir, silentLog)];
  expect(await Promise.all(others.map((other) => other.adopt()))).toEqual([[], []]);
  writeFileSync(join(dir, deadName(dir)), readFileSync(join(dir, readdirSync(dir)[0] as string)));
  const adopted = await Promise.all(others.map((other) => other.adopt()));
  expect(adopted.flat()).toEqual(settles);
  expect(others.reduce((sum, other) => sum + other.size, 0)).toBe(2);
  // What is adopted is the adopter's own now: it stays on disk until it is booked.
  for (const other of others) for (const { request_id } of settles) other.booked(request_id);
  for (const other of others) await other.close();
  expect(readdirSync(dir)).toHaveLength(1);
  await journal.close();
  remove();
});

test('a damaged journal is booked as far as it can be read and kept aside for a person', async () => {
  const { dir, remove } = journalDirectory();
  const journal = new Journal(dir, silentLog);
  const [first, second] = someSettles(2);
  await journal.append([first!]);
  const dead = join(dir, deadName(dir));
  writeFileSync(dead, '00000000 {"settle":{}}\n');
  appendFileSync(dead, readFileSync(join(dir, readdirSync(dir).find((name) => join(dir, name) !== dead)!)));
  const other = new Journal(dir, silentLog);
  expect(await other.adopt()).toEqual([first]);
  expect(readdirSync(dir).filter((name) => name.endsWith('.damaged'))).toHaveLength(1);
  await other.append([second!]);
  expect(other.size).toBe(2);
  await other.close();
  await journal.close();
  remove();
});
