// Saving text from the page as a file.

/** Lets the browser save `text` as `name`. */
export function saveText(text: string, name: string, type = 'text/csv'): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
