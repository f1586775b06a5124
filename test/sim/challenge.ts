// The two providers' verification of challenge answers, as their pages describe it: a form with secret, response and
// remoteip; an answer is good once. Written with no code of the product.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atFileEnd } from '../support/ends.ts';

/** `down` 503, `hanging` no answer at all, `garbage` no JSON, `broken` a fault of the provider's own. */
export type ChallengeMood = 'well' | 'down' | 'hanging' | 'garbage' | 'broken' | 'silent';

export interface ChallengeSim {
  readonly url: string;
  /** What was asked so far. */
  readonly asked: { readonly secret: string; readonly response: string; readonly remoteip: string | null }[];
  /** An answer that a browser would have got. */
  solve(): string;
  turn(mood: ChallengeMood): void;
}

/** Starts a verifier that takes `secret`; it ends with the test file. */
export async function startChallengeSim({
  secret,
  provider,
}: {
  secret: string;
  provider: 'turnstile' | 'hcaptcha';
}): Promise<ChallengeSim> {
  const asked: ChallengeSim['asked'] = [];
  const good = new Map<string, 'fresh' | 'seen'>();
  let mood: ChallengeMood = 'well';
  const seen = provider === 'turnstile' ? 'timeout-or-duplicate' : 'already-seen-response';
  const judge = (given: URLSearchParams): object => {
    if (given.get('secret') !== secret) return { success: false, 'error-codes': ['invalid-input-secret'] };
    const response = given.get('response') ?? '';
    const state = good.get(response);
    if (state === undefined) return { success: false, 'error-codes': ['invalid-input-response'] };
    if (state === 'seen') return { success: false, 'error-codes': [seen] };
    good.set(response, 'seen');
    return { success: true, hostname: 'console.example', 'error-codes': [] };
  };
  const answer = (reply: ServerResponse, given: URLSearchParams) => {
    if (mood === 'hanging') return;
    if (mood === 'down') return reply.writeHead(503).end();
    if (mood === 'garbage') return reply.end('<html>');
    const broken = { success: false, 'error-codes': ['internal-error'] };
    const others = { broken, silent: { success: false }, well: judge(given) };
    return reply.setHeader('content-type', 'application/json').end(JSON.stringify(others[mood]));
  };
  const server = createServer((request, reply) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    request.on('end', () => {
      const given = new URLSearchParams(text);
      asked.push({
        secret: given.get('secret') ?? '',
        response: given.get('response') ?? '',
        remoteip: given.get('remoteip'),
      });
      answer(reply, given);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  atFileEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  let solved = 0;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/siteverify`,
    asked,
    solve() {
      const response = `answer-${++solved}`;
      good.set(response, 'fresh');
      return response;
    },
    turn(next) {
      mood = next;
    },
  };
}
