// A database, a mail server and senders over both, for tests of mail.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPool, type Pool } from '@svc/core/db/index.ts';
import {
  type Context,
  createLog,
  type Id,
  newRequestId,
  now,
  readConfig,
  type Services,
  shiftClock,
  silentLog,
} from '@svc/core/kernel/index.ts';
import {
  type DataOf,
  type MailOutcome,
  type MailParts,
  openMailTransport,
  sendDue,
  sendMail,
  type TemplateName,
} from '@svc/core/mail/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { authority } from '../sim/certificates.ts';
import { type MailServer, startMailServer } from '../sim/mail.ts';
import { createTestDatabase } from '../support/database.ts';
import { atFileEnd } from '../support/ends.ts';

export const ROOT_KEY = Buffer.alloc(32, 9);
export const CONSOLE = 'https://console.example';

export interface MailRow {
  readonly id: Id<'mail'>;
  readonly status: string;
  readonly recipient: string;
  readonly answer: string;
  readonly attempts: number;
  readonly sealed: Buffer | null;
  readonly next_at: Date;
  readonly sent_at: Date | null;
}

/** What sends: `env` over the settings that reach the server. */
export interface Sender {
  readonly outcomes: ReadonlyMap<MailOutcome, number>;
  run(): Promise<number>;
}

export interface MailWorld {
  readonly url: string;
  readonly pool: Pool;
  readonly server: MailServer;
  /** Lines that senders logged. */
  readonly logged: readonly string[];
  readonly data_dir: string;
  readonly context: Context;
  sender(env?: Readonly<Record<string, string>>, more?: Partial<MailParts>): Promise<Sender>;
  /** Asks for a mail in a transaction of its own; to how many addresses it will go. */
  ask<T extends TemplateName>(mail: {
    template: T;
    to: string | readonly string[];
    reference: string;
    data: DataOf<T>;
    link?: string;
    attachments?: { kind: 'invoice_pdf'; id: string }[];
  }): Promise<number>;
  rows(reference: string): Promise<MailRow[]>;
  /** Moves the clock of this process on. */
  pass(ms: number): void;
}

/** Starts everything; it ends after the file. */
export async function startMailWorld(
  options: { auth?: { user: string; pass: string } } = {},
): Promise<MailWorld> {
  const url = await createTestDatabase();
  const pool = createPool(url, { max: 8, role: 'svc_runtime' });
  const server = await startMailServer(options);
  const data_dir = mkdtempSync(join(tmpdir(), 'svc-mail-'));
  const ca_file = join(data_dir, 'ca.pem');
  writeFileSync(ca_file, authority);
  let shift_ms = 0;
  atFileEnd(async () => {
    shiftClock(0);
    await pool.end();
    rmSync(data_dir, { recursive: true, force: true });
  });
  const logged: string[] = [];
  const log = createLog('debug', 'test', {
    write: (line: string | Uint8Array) => logged.push(String(line)) > 0,
  });
  const context = createContext({
    request_id: newRequestId(),
    caller: { kind: 'public' },
    pool,
    log: silentLog,
    services: {} as Services,
  });
  const signIn =
    options.auth === undefined ? '' : `${options.auth.user}:${encodeURIComponent(options.auth.pass)}@`;
  return {
    ...{ url, pool, server, logged, data_dir, context },
    async sender(env = {}, more = {}) {
      const transport = await openMailTransport(
        readConfig({
          SVC_DATA_DIR: data_dir,
          SVC_SMTP_URL: `smtp://${signIn}127.0.0.1:${server.port}?tls=required`,
          SVC_SMTP_CA_FILE: ca_file,
          SVC_MAIL_FROM: 'Acme Gateway <billing@gateway.example>',
          ...env,
        }),
      );
      atFileEnd(() => transport.close());
      const outcomes = new Map<MailOutcome, number>();
      const parts: MailParts = {
        ...{ store: pool, transport, root_key: ROOT_KEY, log, outcomes },
        aroundOf: async () => ({ console_url: CONSOLE, product: 'Acme Gateway' }),
        openAttachment: async (_, __, { id }) => {
          return {
            filename: `${id}.pdf`,
            content_type: 'application/pdf',
            content: Buffer.from('%PDF-1.7 of a test'),
          };
        },
        fromOf: async () => null,
        onEnd: async () => {},
        ...more,
      };
      return { outcomes, run: () => sendDue(parts) };
    },
    ask({ to, link, ...mail }) {
      const addresses = typeof to === 'string' ? [to] : to;
      const secret = link === undefined ? {} : { link: { to: link, root_key: ROOT_KEY } };
      return context.transaction((context) =>
        sendMail(context, { ...mail, to: addresses, org_id: null, ...secret }),
      );
    },
    async rows(reference) {
      const text = `select id, status, recipient, answer, attempts, sealed, next_at, sent_at
                      from mail where reference = $1 order by recipient_key`;
      return (await pool.query<MailRow>({ name: '', text, values: [reference] })).rows;
    },
    pass(ms) {
      shift_ms += ms;
      shiftClock(shift_ms);
    },
  };
}

/** The time of this process, as the product reads it. */
export const present = () => now().getTime();
