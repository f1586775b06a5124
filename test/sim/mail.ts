// A mail server: npm's `smtp-server`, which speaks the real protocol, with STARTTLS, sign-in and answers on request.
import { PassThrough } from 'node:stream';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { atFileEnd } from '../support/ends.ts';
import { server as certificate } from './certificates.ts';

/** A mail as the server took it. */
export interface Received {
  /** Envelope. */
  readonly from: string;
  readonly to: readonly string[];
  readonly secure: boolean;
  readonly raw: string;
  readonly mail: Email;
}

/** What the server says; an answer is `550 5.1.1 No such user`. */
interface Manners {
  /** To a recipient; null: welcome. */
  recipient: (address: string) => string | null;
  sender: string | null;
  /** To the mail itself. */
  data: string | null;
  /** The mail is kept and the connection ends before the server says so. */
  loses_answer: boolean;
}

export interface MailServer {
  readonly port: number;
  readonly received: Received[];
  /** Connections that were made, wrong ones included. */
  readonly connections: number;
  turn(manners: Partial<Manners>): void;
  stop(): Promise<void>;
  start(): Promise<void>;
}

function refusal(answer: string): Error {
  return Object.assign(new Error(answer.slice(4)), { responseCode: Number(answer.slice(0, 3)) });
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream.pipe(new PassThrough())) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('latin1');
}

/** Starts a server on loopback; it ends with the file. `auth`: user and password that it asks for. */
export async function startMailServer(
  options: { auth?: { user: string; pass: string }; tls?: boolean } = {},
): Promise<MailServer> {
  const manners: Manners = { recipient: () => null, sender: null, data: null, loses_answer: false };
  const received: Received[] = [];
  let connections = 0;
  let port = 0;
  const make = () => {
    const server = new SMTPServer({
      logger: false,
      closeTimeout: 100,
      key: certificate.key,
      cert: certificate.cert,
      authOptional: options.auth === undefined,
      disabledCommands: options.tls === false ? ['STARTTLS'] : [],
      hideSTARTTLS: options.tls === false,
      onConnect(_, done) {
        connections++;
        done();
      },
      onAuth({ username, password }, _, done) {
        const right = username === options.auth?.user && password === options.auth?.pass;
        done(right ? null : refusal('535 5.7.8 Wrong'), right ? { user: username } : undefined);
      },
      onMailFrom(_, __, done) {
        done(manners.sender === null ? null : refusal(manners.sender));
      },
      onRcptTo({ address }, _, done) {
        const answer = manners.recipient(address);
        done(answer === null ? null : refusal(answer));
      },
      onData(stream, session, done) {
        const { mailFrom, rcptTo } = session.envelope;
        textOf(stream).then(async (raw) => {
          if (manners.data !== null) return done(refusal(manners.data));
          const mail = await PostalMime.parse(Buffer.from(raw, 'latin1'));
          received.push({
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            secure: session.secure,
            ...{ raw, mail },
          });
          if (!manners.loses_answer) return done(null, 'Taken');
          for (const connection of server.connections) connection.close();
        }, done);
      },
    });
    server.on('error', () => {});
    return server;
  };
  let server = make();
  const listen = () =>
    new Promise<void>((done) => {
      server.listen(port, '127.0.0.1', () => {
        port = (server.server.address() as { port: number }).port;
        done();
      });
    });
  const stop = () => new Promise<void>((done) => server.close(done));
  await listen();
  atFileEnd(stop);
  return {
    get port() {
      return port;
    },
    received,
    get connections() {
      return connections;
    },
    turn(change) {
      Object.assign(manners, change);
    },
    stop,
    async start() {
      server = make();
      await listen();
    },
  };
}
