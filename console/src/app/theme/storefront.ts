// The colour of a storefront in place of ours: the accent family alone, never status, sandbox or charts. The server has made
// both colours readable (docs/resellers/storefront.md#the-colour).
import { storefront } from '../../api/boot.ts';

/** How much of the colour is in the ground of what is selected, and how far a pointer changes it. */
const SOFT = { light: 9, dark: 14 };
const HOVER = 12;

/** The tokens of tokens.css that a storefront changes. */
function accentTokens(light: string, dark: string): Readonly<Record<string, string>> {
  const mix = (one: string, percent: number, other: string) =>
    `color-mix(in srgb, ${one} ${percent}%, ${other})`;
  return {
    '--accent': `light-dark(${light}, ${dark})`,
    '--accent-text': `light-dark(${light}, ${dark})`,
    '--accent-hover': `light-dark(${mix('black', HOVER, light)}, ${mix('white', HOVER, dark)})`,
    '--accent-soft': `light-dark(${mix(light, SOFT.light, 'var(--light-surface)')}, ${mix(dark, SOFT.dark, 'var(--dark-surface)')})`,
    '--on-accent': 'light-dark(var(--light-on-accent), var(--dark-on-accent))',
  };
}

/** Takes the two accent colours; what it returns takes them off again. */
export function wear({ light, dark }: { light: string; dark: string }): () => void {
  const { style } = document.documentElement;
  const tokens = Object.entries(accentTokens(light, dark));
  for (const [name, value] of tokens) style.setProperty(name, value);
  return () => {
    for (const [name] of tokens) style.removeProperty(name);
  };
}

/** Takes the colours of the storefront at this address, if there is one. */
export function wearStorefront(): void {
  if (storefront !== null) wear({ light: storefront.accent_light, dark: storefront.accent_dark });
}
