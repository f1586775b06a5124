// Media in Converse: bytes with a format name, documents with a restricted name.
import { ServiceError } from '../../../../kernel/index.ts';
import type { Target } from '../../../canonical/contract.ts';
import type { AudioPart, DocumentPart, MediaSource, Part } from '../../../canonical/types.ts';

const IMAGES: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};
const VIDEOS: Readonly<Record<string, string>> = {
  'video/mp4': 'mp4',
  'video/quicktime': 'mov',
  'video/x-matroska': 'mkv',
  'video/webm': 'webm',
  'video/x-flv': 'flv',
  'video/mpeg': 'mpeg',
  'video/x-ms-wmv': 'wmv',
  'video/3gpp': 'three_gp',
};
const AUDIOS: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/ogg': 'ogg',
  'audio/flac': 'flac',
  'audio/aac': 'aac',
  'audio/mp4': 'm4a',
  'audio/x-m4a': 'm4a',
  'audio/webm': 'webm',
  'audio/opus': 'opus',
  'audio/pcm': 'pcm',
};
const OFFICE = 'application/vnd.openxmlformats-officedocument.';
const DOCUMENTS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/markdown': 'md',
  'application/msword': 'doc',
  [`${OFFICE}wordprocessingml.document`]: 'docx',
  'application/vnd.ms-excel': 'xls',
  [`${OFFICE}spreadsheetml.sheet`]: 'xlsx',
};

type MediaPart = Extract<Part, { src: MediaSource }>;

function word(table: Readonly<Record<string, string>>, media_type: string): string | null {
  const bare = media_type.toLowerCase().replace(/;.*$/, '').trim();
  return Object.hasOwn(table, bare) ? table[bare]! : null;
}

function audioFormat(part: AudioPart, media_type: string): string | null {
  const said = part.format === undefined ? null : word(AUDIOS, `audio/${part.format}`);
  return said ?? word(AUDIOS, media_type);
}

/** The format name for bytes of `media_type` in `part`; null when Converse has none. */
export function formatWord(part: MediaPart, media_type: string): string | null {
  switch (part.type) {
    case 'image':
      return word(IMAGES, media_type);
    case 'video':
      return word(VIDEOS, media_type);
    case 'audio':
      return audioFormat(part, media_type);
    case 'document':
      return word(DOCUMENTS, media_type) ?? (media_type.startsWith('text/') ? 'txt' : null);
  }
}

/** Whether the endpoint accepts media of this kind. */
export function takesMedia(part: MediaPart, { capabilities }: Target): boolean {
  switch (part.type) {
    case 'image':
      return capabilities.vision;
    case 'audio':
      return capabilities.audio;
    case 'video':
      return capabilities.parameters.includes('video') || capabilities.parameters.includes('video_url');
    case 'document':
      return isText(part) || capabilities.pdf;
  }
}

function isText({ src }: DocumentPart): boolean {
  return 'text' in src || ('base64' in src && src.media_type.startsWith('text/'));
}

/**
 * JSON text of `"format":…,"source":…`. Addresses have been fetched before (`inlines`), so only fetched media can
 * have a type that was unknown when losses were determined. @throws ServiceError invalid_media for such a type.
 */
export function formatAndSource(part: MediaPart): string | null {
  const { src } = part;
  if ('text' in src) {
    return part.type === 'document' ? `"format":"txt","source":{"text":${JSON.stringify(src.text)}}` : null;
  }
  if (!('base64' in src)) return null;
  const format = formatWord(part, src.media_type);
  if (format === null) {
    throw new ServiceError(
      'invalid_media',
      `This provider does not accept ${part.type} of type ${src.media_type}.`,
    );
  }
  return `"format":"${format}","source":{"bytes":${JSON.stringify(src.base64)}}`;
}

const NAME_MAX = 100;
const KNOWN_ENDING = /\.(?:pdf|csv|docx?|xlsx?|html?|txt|md)$/i;

/**
 * `name` with only the characters that the API accepts: alphanumerics, single spaces, hyphens, parentheses, square
 * brackets.
 */
export function cleanName(name: string): string {
  const clean = name
    .replace(KNOWN_ENDING, '')
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-zA-Z0-9\s\-()[\]]+/g, '-')
    .replace(/\s+/g, ' ')
    .replace(/-{2,}/g, '-')
    .slice(0, NAME_MAX)
    .replace(/^[\s-]+|[\s-]+$/g, '');
  return clean === '' ? 'document' : clean;
}

/** Assigns the document names of one request; no two documents may have the same. */
export class DocumentNames {
  readonly #used = new Set<string>();
  /** The last number appended to a name: thousands of documents may have the same name. */
  readonly #last = new Map<string, number>();

  /** A name for `part`, made from its title or name. */
  next(part: DocumentPart): string {
    const base = cleanName(part.title ?? part.name ?? 'document');
    let name = base;
    let n = this.#last.get(base) ?? 1;
    while (this.#used.has(name)) name = `${base} ${++n}`;
    this.#last.set(base, n);
    this.#used.add(name);
    return name;
  }
}
