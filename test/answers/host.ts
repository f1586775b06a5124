// One process of a run checks the answers of all its test files, so that schemas are compiled once.
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { AnswerCheck } from './check.ts';

export interface AnswerHost {
  readonly socket: string;
  stop(): Promise<void>;
}

/** Serves the check on a socket in `dir`: the body names a folder of recorded answers, the answer lists faults. */
export async function hostAnswerCheck(dir: string): Promise<AnswerHost> {
  let check: AnswerCheck | null = null;
  const server = createServer(async (incoming, reply) => {
    try {
      const folder = await text(incoming);
      // Loaded when it is first needed: most runs of one file need none of the product here.
      check ??= new (await import('./check.ts')).AnswerCheck();
      reply.writeHead(200).end(JSON.stringify(check.faultsIn(folder)));
    } catch (error) {
      reply.writeHead(200).end(JSON.stringify([`the answers could not be checked: ${error}`]));
    }
  });
  const socket = join(dir, 'answers.sock');
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(socket, done);
  });
  return {
    socket,
    stop: () => new Promise((done) => server.close(() => done())),
  };
}

/** The faults of what is recorded in `folder`, as the process behind `socket` finds them. */
export function askForFaults(socket: string, folder: string): Promise<string[]> {
  return new Promise((done, fail) => {
    const asked = request({ socketPath: socket, method: 'POST', agent: false }, (reply) => {
      text(reply).then((said) => done(JSON.parse(said) as string[]), fail);
    });
    asked.once('error', fail);
    asked.end(folder);
  });
}
