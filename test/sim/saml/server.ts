// A SAML provider at an address, for browsers: it publishes its description and signs its person in without a page.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inflateRawSync } from 'node:zlib';
import { atFileEnd } from '../../support/ends.ts';
import { type Said, SamlForge } from './forge.ts';
import { acme } from './keys.ts';

export interface SamlServer {
  readonly url: string;
  readonly metadata: () => string;
  /** What it says of who comes next. */
  said: Said;
}

/** Starts it for the service whose name is `entity_id`. */
export async function startSamlServer(own: { entity_id: string; acs_url: string }): Promise<SamlServer> {
  const forge = new SamlForge('https://id.meridian.example/saml', acme);
  const server = createServer((request, reply) => {
    const url = new URL(request.url ?? '/', sim.url);
    if (url.pathname === '/metadata') {
      reply.writeHead(200, { 'content-type': 'application/xml' }).end(sim.metadata());
      return;
    }
    const sent = Buffer.from(url.searchParams.get('SAMLRequest') ?? '', 'base64');
    const request_id = /\bID="([^"]+)"/.exec(inflateRawSync(sent).toString())?.[1] as string;
    const xml = forge.answer({ ...own, request_id, at: Date.now() }, sim.said);
    const value = Buffer.from(xml).toString('base64');
    reply
      .writeHead(200, { 'content-type': 'text/html' })
      .end(
        `<!doctype html><title>Provider</title><form method="post" action="${own.acs_url}"><input type="hidden" name="SAMLResponse" value="${value}"></form><script>document.forms[0].submit()</script>`,
      );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  atFileEnd(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const sim: SamlServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    metadata: () => forge.metadata({ sso_url: `${sim.url}/sso` }),
    said: {},
  };
  return sim;
}
