// A document as PDF.
import { printText } from '../invoices/index.ts';
import type { Values } from './fill.ts';
import { blocksOf } from './markdown.ts';
import type { LegalVersion } from './types.ts';

/** Without the marks of emphasis and links, which paper does not have. */
function plain(text: string): string {
  return text.replaceAll(/\*\*(.+?)\*\*/g, '$1').replaceAll(/\[([^\]]+)\]\(([^)]+)\)/g, '$1 ($2)');
}

/** The bytes of `text`, the filled text of `version`. @throws ServiceError service_unavailable when too many wait. */
export function printDocument(version: LegalVersion, text: string, platform: Values): Promise<Buffer> {
  const blocks = blocksOf(text).map((block) =>
    block.kind === 'table'
      ? { ...block, head: block.head.map(plain), rows: block.rows.map((row) => row.map(plain)) }
      : { ...block, text: plain(block.text) },
  );
  return printText({
    ...{ title: version.title, author: platform['supplier.legal_name'] ?? 'not set', blocks },
    ...{ at: version.published_at, foot: `${version.title} · ${version.version}` },
  });
}
