// Ports are checked before anything is started, so that one sentence can report a port in use.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';

/** Whether a program can listen on `port` of `host` now. */
export function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', () => done(false));
    server.listen(port, host, () => server.close(() => done(true)));
  });
}

/** Inodes of listening sockets on `port`, from the kernel's tables. */
function listeners(port: number): Set<string> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const inodes = new Set<string>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    let text = '';
    try {
      text = readFileSync(table, 'utf8');
    } catch {
      continue;
    }
    for (const line of text.split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/);
      const [local, state, inode] = [fields[1], fields[3], fields[9]];
      if (local?.endsWith(`:${hex}`) && state === '0A' && inode !== undefined) inodes.add(inode);
    }
  }
  return inodes;
}

/** The command line of a process, shortened. */
function commandOf(pid: string): string {
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
  return words.length > 80 ? `…${words.slice(-79)}` : words;
}

/** What listens on `port`, as "process 123 (command)"; null when that cannot be seen (another user's process). */
export function whoListens(port: number): string | null {
  const inodes = listeners(port);
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      for (const fd of readdirSync(`/proc/${pid}/fd`)) {
        const match = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`));
        if (match?.[1] !== undefined && inodes.has(match[1])) return `process ${pid} (${commandOf(pid)})`;
      }
    } catch {
      // The process has ended or belongs to another user.
    }
  }
  return null;
}
