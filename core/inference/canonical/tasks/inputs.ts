// The kinds of input of an embed task, and the images among them.
import type { EmbedContent, EmbedInput, EmbedPart, EmbedTask, Task } from '../types.ts';

/** Whether `input` is a text given as token ids. */
export function isTokens(input: EmbedInput): input is readonly number[] {
  return Array.isArray(input);
}

/** Whether `input` is content that may hold images. */
export function isContent(input: EmbedInput): input is EmbedContent {
  return typeof input === 'object' && 'content' in input;
}

/** Whether an input of `task` holds an image. */
export function hasImages(task: Task | undefined): boolean {
  return (
    task?.kind === 'embed' && task.input.some((input) => isContent(input) && input.content.some(isImage))
  );
}

/** Images of all inputs of `task`. */
export function countImages(task: EmbedTask): number {
  let images = 0;
  for (const input of task.input) if (isContent(input)) images += input.content.filter(isImage).length;
  return images;
}

/** Path of `input[i]` in the caller's body. */
export function pathOf(task: EmbedTask, i: number): string {
  return task.single ? 'input' : `input[${i}]`;
}

function isImage(part: EmbedPart): boolean {
  return part.type === 'image';
}
