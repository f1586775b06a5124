// One LISTEN connection that comes back by itself. What is missed while it is away is the caller's to find
// (a poll); a notification is a hint that saves waiting, never the only way a fact travels.
import pg from 'pg';
import type { Log } from '../kernel/index.ts';
import { refuseStandby } from './primary-store.ts';

export interface Listener {
  readonly connected: boolean;
  close(): Promise<void>;
}

const RETRY_MS = 500;

/** Listens, and takes the lock of a session's name; the server gives it back when the connection ends, however it does. */
async function begin(
  client: pg.Client,
  { channels, session_id }: { readonly channels: readonly string[]; readonly session_id?: string },
): Promise<void> {
  await refuseStandby(client);
  await client.query(channels.map((channel) => `listen ${pg.escapeIdentifier(channel)}`).join('; '));
  if (session_id === undefined) return;
  await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [session_id]);
}

/**
 * Calls `on_message` with channel and payload of each NOTIFY on `channels` and `on_connect` after each (re)connection.
 * Returns at once; a server that is away is retried each 500 ms.
 */
export function listen(options: {
  url: string;
  channels: readonly string[];
  /** Name of a lock that the connection holds while it lasts, by which others see that this process is there. */
  session_id?: string;
  log: Log;
  on_message: (channel: string, payload: string) => void;
  on_connect: () => void;
}): Listener {
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | null = null;
  let closed = false;
  let connected = false;

  const connect = async (): Promise<void> => {
    timer = null;
    const fresh = new pg.Client({
      connectionString: options.url,
      application_name: 'svc-listen',
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    });
    client = fresh;
    const lost = (error?: Error) => {
      if (client !== fresh) return;
      client = null;
      connected = false;
      fresh.end().catch(() => {});
      if (closed) return;
      options.log.warn({ channels: options.channels, error }, 'listening interrupted');
      timer = setTimeout(connect, RETRY_MS);
    };
    fresh.on('error', lost);
    fresh.on('end', () => lost());
    fresh.on('notification', (message) => options.on_message(message.channel, message.payload ?? ''));
    try {
      await fresh.connect();
      await begin(fresh, options);
    } catch (error) {
      lost(error as Error);
      return;
    }
    if (client !== fresh || closed) return;
    connected = true;
    options.on_connect();
  };
  void connect();
  return {
    get connected() {
      return connected;
    },
    async close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      const open = client;
      client = null;
      await open?.end().catch(() => {});
    },
  };
}
