// The signed code of a registered document as a telephone reads it: the page is drawn by a browser and the code is looked for
// in its picture.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Invoice } from '@svc/core/invoices/index.ts';
import { render } from '@svc/core/invoices/pdf/render.ts';
import jsqr from 'jsqr';
import { expect, test } from 'vitest';
import { launchChromium } from '../support/chromium.ts';
import { sampleDocuments } from './samples.ts';
import { startWorld } from './world.ts';

/** Dots for a point of the page: 216 to the inch, less than a printer has. */
const SCALE = 3;

/** The form of `unpdf` that a browser loads; its types are those of the other form. */
const reader = readFileSync(fileURLToPath(import.meta.resolve('unpdf/pdfjs')), 'utf8');
const documents = await sampleDocuments(await startWorld());
const browser = await launchChromium();

interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue and opacity of each dot. */
  readonly dots: string;
}

/** What the browser loads of the reader. */
interface Reader {
  getDocument: typeof import('unpdf/pdfjs').getDocument;
}

/** Pictures of the pages of `pdf`. */
async function picturesOf(pdf: Buffer): Promise<Picture[]> {
  const page = await browser.newPage();
  try {
    const address = await page.evaluate(
      (text) => URL.createObjectURL(new Blob([text], { type: 'text/javascript' })),
      reader,
    );
    const content = `import { getDocument } from '${address}'; globalThis.getDocument = getDocument;`;
    await page.addScriptTag({ type: 'module', content });
    await page.waitForFunction(() => 'getDocument' in globalThis);
    return await page.evaluate(
      async ({ pdf, scale }) => {
        const { getDocument } = globalThis as unknown as Reader;
        const data = Uint8Array.from(atob(pdf), (letter) => letter.charCodeAt(0));
        const file = await getDocument({ data }).promise;
        const pictures = [];
        for (let number = 1; number <= file.numPages; number++) {
          const sheet = await file.getPage(number);
          const viewport = sheet.getViewport({ scale });
          const [width, height] = [Math.ceil(viewport.width), Math.ceil(viewport.height)];
          const canvas = Object.assign(document.createElement('canvas'), { width, height });
          const canvasContext = canvas.getContext('2d') as CanvasRenderingContext2D;
          await sheet.render({ canvasContext, viewport, canvas }).promise;
          const { data: dots } = canvasContext.getImageData(0, 0, width, height);
          let text = '';
          for (let at = 0; at < dots.length; at += 32_768)
            text += String.fromCharCode(...dots.subarray(at, at + 32_768));
          pictures.push({ width, height, dots: btoa(text) });
        }
        return pictures;
      },
      { pdf: pdf.toString('base64'), scale: SCALE },
    );
  } finally {
    await page.close();
  }
}

/** The codes that are read from the pages. */
async function codesOf(document: Invoice): Promise<string[]> {
  const pictures = await picturesOf(await render(document));
  return pictures.flatMap(({ width, height, dots }) => {
    const found = jsqr.default(new Uint8ClampedArray(Buffer.from(dots, 'base64')), width, height);
    return found === null ? [] : [found.data];
  });
}

test('the code on a registered document says what the portal has signed', async () => {
  const registered = [...documents.values()].find(({ irn_qr }) => irn_qr !== null) as Invoice;
  expect(await codesOf(registered)).toEqual([registered.irn_qr]);
});

test('a document that is not registered shows no code', async () => {
  const plain = [...documents.values()].find(({ irn_qr }) => irn_qr === null) as Invoice;
  expect(await codesOf(plain)).toEqual([]);
});
