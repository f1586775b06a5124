// Engines that all test files of a run share. The process of the run starts each engine when the first file asks for
// it, so a run that needs none starts none. It stops them in reverse order after the last file.
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Socket of the process that starts shared engines. */
    engines: string;
  }
}

/** The information that users of a shared engine get, and how it is stopped. */
export interface Shared<T = unknown> {
  readonly access: T;
  stop(): Promise<void>;
}

export interface EngineHost {
  readonly socket: string;
  stop(): Promise<void>;
}

/**
 * Serves the engines in `start` by name on a socket in `dir`. GET /name starts that engine at most once and returns
 * its information.
 */
export async function hostEngines(
  dir: string,
  start: Readonly<Record<string, () => Promise<Shared>>>,
): Promise<EngineHost> {
  const started = new Map<string, Promise<Shared>>();
  const get = (name: string): Promise<Shared> => {
    const make = start[name];
    if (make === undefined) return Promise.reject(new Error(`there is no shared engine ${name}`));
    const running = started.get(name) ?? make();
    started.set(name, running);
    return running;
  };
  const server = createServer((incoming, reply) => {
    get((incoming.url ?? '').slice(1)).then(
      ({ access }) => reply.writeHead(200).end(JSON.stringify(access)),
      (error: Error) => reply.writeHead(500).end(error.message),
    );
  });
  const socket = join(dir, 'engines.sock');
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(socket, done);
  });
  return {
    socket,
    async stop() {
      server.closeAllConnections();
      server.close();
      for (const engine of [...started.values()].reverse()) {
        // When an engine failed to start, those who asked for it have already been told.
        const running = await engine.catch(() => null);
        await running?.stop();
      }
    },
  };
}

/**
 * The information about engine `name` of the host at `socketPath`. @throws Error with the reason when it could not
 * start.
 */
export function askHost<T>(socketPath: string, name: string): Promise<T> {
  return new Promise((done, fail) => {
    const asked = request({ socketPath, path: `/${name}` }, (reply) => {
      let text = '';
      reply.setEncoding('utf8');
      reply.on('data', (piece) => {
        text += piece;
      });
      reply.on('end', () => (reply.statusCode === 200 ? done(JSON.parse(text) as T) : fail(new Error(text))));
    });
    asked.on('error', fail);
    asked.end();
  });
}

/** The information about the run's engine `name`, which is started when no file has asked for it before. */
export function askEngine<T>(name: string): Promise<T> {
  return askHost(inject('engines'), name);
}
