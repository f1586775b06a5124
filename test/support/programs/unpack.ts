// Unpacks a ZIP with a program that shares no code with the product: the zipfile module of Python.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PROGRAM = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    bad = z.testzip()
    if bad is not None:
        raise SystemExit('bad checksum: ' + bad)
    z.extractall(sys.argv[2])
    print(json.dumps(z.namelist()))
`;

/** The files of an archive by their path, in their order. @throws Error when it is not whole. */
export async function unpack(zip: Uint8Array): Promise<Map<string, Buffer>> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-unpack-'));
  try {
    const path = join(dir, 'a.zip');
    writeFileSync(path, zip);
    const { stdout } = await run('python3', ['-c', PROGRAM, path, join(dir, 'files')], {
      env: { ...process.env, PYTHONIOENCODING: 'utf-8' },
    });
    const names = JSON.parse(stdout) as string[];
    return new Map(names.map((name) => [name, readFileSync(join(dir, 'files', name))]));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
