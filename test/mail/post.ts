// Sends mails that are due over a mail server whose answers a test chooses, with what the product makes of their end.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool } from '@svc/core/db/index.ts';
import { type Context, now, readConfig } from '@svc/core/kernel/index.ts';
import { type MailParts, openMailTransport, sendDue } from '@svc/core/mail/index.ts';
import { noteMailEnd } from '@svc/core/operations/mail-ends.ts';
import { authority } from '../sim/certificates.ts';
import { type MailServer, startMailServer } from '../sim/mail.ts';
import { atFileEnd } from '../support/ends.ts';
import { freshDataDir } from '../support/gateway.ts';

export interface Post {
  readonly server: MailServer;
  /** Sends what is due now. */
  send(): Promise<number>;
}

/** Starts the server; it ends with the file. */
export async function startPost({ pool, context }: { pool: Pool; context: Context }): Promise<Post> {
  const server = await startMailServer();
  const ca_file = join(freshDataDir(), 'ca.pem');
  writeFileSync(ca_file, authority);
  const transport = await openMailTransport(
    readConfig({
      SVC_SMTP_URL: `smtp://127.0.0.1:${server.port}?tls=required`,
      SVC_SMTP_CA_FILE: ca_file,
      SVC_MAIL_FROM: 'Acme Gateway <billing@gateway.example>',
    }),
  );
  atFileEnd(() => transport.close());
  const { services, log } = context;
  const parts: MailParts = {
    ...{ store: pool, transport, root_key: services.root_key, log, outcomes: new Map() },
    aroundOf: async () => ({ console_url: 'https://console.example', product: 'Acme Gateway' }),
    openAttachment: async (_, __, { id }) => ({
      filename: `${id}.pdf`,
      content_type: 'application/pdf',
      content: Buffer.from('%PDF-1.7 of a test'),
    }),
    fromOf: async () => null,
    onEnd: (db, mail, end) => noteMailEnd({ db, now, services }, mail, end),
  };
  return { server, send: () => sendDue(parts) };
}
