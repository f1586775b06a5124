// Proof that reasoning came back as it was sent. It guards nothing; it shows whether a path keeps every byte.
import { sha256Hex } from '../../../../kernel/index.ts';
import type { Message, ReasoningPart } from '../../../canonical/types.ts';

const PREFIX = 'sbx1.';

/** Signature of a reasoning text: `sbx1.` and 32 hexadecimal digits. */
export function signatureOf(text: string): string {
  return `${PREFIX}${sha256Hex(`sandbox reasoning\n${text}`).slice(0, 32)}`;
}

/** Opaque state that carries its own proof: `sbx1.<payload>.<hash>`. */
export function opaqueState(payload: string): string {
  return `${PREFIX}${payload}.${sha256Hex(`sandbox state\n${payload}`).slice(0, 32)}`;
}

/** Path of the first reasoning part of `messages` that is ours and was changed; null when all are whole. */
export function changedReasoning(messages: readonly Message[]): string | null {
  for (const [i, message] of messages.entries()) {
    for (const [j, part] of message.content.entries()) {
      if (part.type === 'reasoning' && !isWhole(part)) return `messages[${i}].content[${j}]`;
    }
  }
  return null;
}

// Parts without proof are another provider's (or a caller dropped the signature, which every provider allows in
// plain chats). A part of a named format is that format's; of `unknown` only ours has signatures.
function isWhole(part: ReasoningPart): boolean {
  const { signature, data } = part;
  if (signature !== undefined && signature !== '' && isOurs(part, signature)) {
    if (signature !== signatureOf(part.text)) return false;
  }
  if (data !== undefined && data !== '' && isOurs(part, data)) {
    const payload = data.slice(PREFIX.length, data.lastIndexOf('.'));
    if (data !== opaqueState(payload)) return false;
  }
  return true;
}

function isOurs(part: ReasoningPart, proof: string): boolean {
  return part.format === 'unknown' || proof.startsWith(PREFIX);
}
