// What can be done with an export. Pure.

/** How often one can be downloaded. */
const DOWNLOADS_MAX = 20;

/** Whether an export can be downloaded at `now`. */
export function isOpen(
  { expiresAt, downloads }: { readonly expiresAt: string; readonly downloads: number },
  now: Date,
): boolean {
  return Date.parse(expiresAt) > now.getTime() && downloads < DOWNLOADS_MAX;
}
