// `make tools`: installs what tests need beyond npm packages and lists where each program was found.
import { findPostgres } from './postgres.ts';
import { ensurePythonClients } from './python.ts';

const say = (name: string, words: string) => process.stdout.write(`${name.padEnd(10)} ${words}\n`);

say('node', `${process.version}  ${process.execPath}`);
say('postgres', findPostgres());
try {
  say('python', await ensurePythonClients((message) => say('python', message)));
} catch (error) {
  say('python', (error as Error).message);
  process.exitCode = 1;
}
