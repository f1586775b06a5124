// Writes the answer of a call to a Node response.
import type { ServerResponse } from 'node:http';
import type { Sink } from '@svc/core/inference/index.ts';

export class ResponseSink implements Sink {
  gone = false;
  onDrain: (() => void) | null = null;
  onGone: (() => void) | null = null;
  private readonly response: ServerResponse;

  constructor(response: ServerResponse) {
    this.response = response;
    response.on('close', () => {
      // `close` also follows a finished answer; only before its end does it mean that the client disconnected.
      if (response.writableEnded) return;
      this.gone = true;
      this.onGone?.();
    });
    response.on('drain', () => this.onDrain?.());
    response.on('error', () => {});
  }

  head(status: number, headers: string[]): void {
    if (this.gone) return;
    // A client of HTTP/1.0, as some proxies are, gets a body that ends with the connection, so trailers are
    // impossible.
    const at = this.response.useChunkedEncodingByDefault ? -1 : headers.indexOf('trailer');
    this.response.writeHead(status, at < 0 ? headers : headers.toSpliced(at, 2));
  }

  write(bytes: Buffer | string): boolean {
    return this.gone ? true : this.response.write(bytes);
  }

  destroy(): void {
    this.response.destroy();
  }

  end(bytes: Buffer | string, trailers: readonly [string, string][] = []): void {
    if (this.gone) return;
    if (trailers.length > 0) this.response.addTrailers(trailers as [string, string][]);
    this.response.end(bytes);
  }
}
