// A rail that answers what a test tells it and keeps what it was asked: each call of a rail as the wire has it, and each
// answer that the simulators never give.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readConfig } from '@svc/core/kernel/index.ts';
import { openRails, type Rail, type RailName } from '@svc/core/topups/index.ts';
import { atFileEnd } from '../../support/ends.ts';

/** A call as it came. */
export interface Asked {
  /** Method and path, with the query as people read it. */
  readonly what: string;
  /** The path alone, to the letter. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** JSON, or the fields of a form. */
  readonly body: unknown;
}

/** An answer; a status that is not told is 200. */
export interface Answer {
  readonly status?: number;
  readonly body: unknown;
}

function bodyOf(request: IncomingMessage, text: string): unknown {
  if (text === '') return null;
  const is_json = request.headers['content-type']?.includes('json') === true;
  return is_json ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text));
}

export interface AnsweringRail {
  readonly url: string;
  readonly rail: Rail;
  /** What was asked since the last `tell`. */
  readonly asked: Asked[];
  /** The answers to the calls that follow, in their order; any further call is answered 401. */
  tell(...answers: Answer[]): void;
}

/** Starts it; it ends after the file. `more` are further settings of the rail. */
export async function startAnsweringRail(
  name: RailName,
  more: Readonly<Record<string, string>> = {},
): Promise<AnsweringRail> {
  const asked: Asked[] = [];
  let answers: Answer[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const { url = '' } = request;
    const what = `${request.method} ${decodeURIComponent(url)}`;
    asked.push({
      what,
      path: url.split('?')[0] as string,
      headers: request.headers,
      body: bodyOf(request, text),
    });
    const { status = 200, body } = answers.shift() ?? { status: 401, body: { error: { message: 'untold' } } };
    // The official client of rail-b would try again by itself.
    response.writeHead(status, { 'content-type': 'application/json', 'stripe-should-retry': 'false' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  atFileEnd(async () => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const rails = openRails(
    readConfig(
      name === 'rail-a'
        ? {
            ...{ SVC_RAIL_A_BASE_URL: url, SVC_RAIL_A_KEY_ID: 'rzp_test_1', SVC_RAIL_A_KEY_SECRET: 'secret' },
            ...{ SVC_RAIL_A_WEBHOOK_SECRET: 'hook', ...more },
          }
        : {
            ...{ SVC_RAIL_B_BASE_URL: url, SVC_RAIL_B_KEY_SECRET: 'sk_test_1' },
            ...{ SVC_RAIL_B_WEBHOOK_SECRET: 'hook', ...more },
          },
    ),
  );
  return {
    url,
    rail: rails[name] as Rail,
    asked,
    tell(...given) {
      asked.length = 0;
      answers = given;
    },
  };
}
