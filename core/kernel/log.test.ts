import { execFileSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { createLog, errorFields } from './log.ts';

const planted = 'planted-content-4711';

function thrownBy(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

test('an error that quotes what it could not parse is logged without the quotation', () => {
  const error = thrownBy(() => JSON.parse(`{"a": ${planted}}`));
  expect((error as Error).message).toContain('planted');
  const logged = JSON.stringify(errorFields(error));
  expect(logged).not.toContain('planted-');
  expect(logged).toContain('SyntaxError');
  expect(logged).toContain('log.test.ts');
});

test('a thrown value that is not an Error is logged by its type alone', () => {
  expect(JSON.stringify(errorFields(planted))).not.toContain(planted);
  expect(JSON.stringify(errorFields({ text: planted }))).not.toContain(planted);
});

test('any other error is logged with its message, code and stack', () => {
  const error = Object.assign(new TypeError('no such part'), { code: 'E_PART', query: planted });
  expect(errorFields(error)).toMatchObject({ name: 'TypeError', message: 'no such part', code: 'E_PART' });
  expect(JSON.stringify(errorFields(error))).not.toContain(planted);
});

test('a line has its level as a word and its time in ISO 8601', () => {
  const lines: string[] = [];
  const to = { write: (line: string | Uint8Array) => lines.push(String(line)) > 0 };
  const log = createLog('info', 'gateway', to);
  log.debug({}, 'not shown');
  log.child({ part: 'ledger' }).warn({ error: new RangeError('too many') }, 'it waits');
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] as string)).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    program: 'gateway',
    part: 'ledger',
    error: expect.objectContaining({ name: 'RangeError', message: 'too many' }),
    msg: 'it waits',
  });
});

/** What a person reads in a terminal while `lines`, statements on `log`, run. */
function inTerminal(lines: string): string {
  const module = new URL('log.ts', import.meta.url).href;
  const code = `const { openLog } = await import('${module}'); const log = await openLog('info', 'gateway'); ${lines}`;
  const terminal = 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)';
  const node = [process.execPath, '--input-type=module', '-e', code];
  return stripVTControlCharacters(execFileSync('python3', ['-c', terminal, ...node], { encoding: 'utf8' }));
}

test('in a terminal a line is the time of day, the level, the message and the fields', () => {
  expect(inTerminal(`log.info({ status: 200, ms: 12 }, 'call'); log.debug({}, 'not shown');`)).toMatch(
    /^\[?\d\d:\d\d:\d\d\.\d{3}\]? INFO: call \{"status":200,"ms":12\}\r\n$/,
  );
});
