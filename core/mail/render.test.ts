// What every template says, as text and as HTML.
import Value from 'typebox/value';
import { expect, test } from 'vitest';
import type { Content } from './content.ts';
import { findTemplate, render, type TemplateName, templates } from './index.ts';

const around = { console_url: 'https://console.example', product: 'svc' };
const names = Object.keys(templates) as TemplateName[];
const contentOf = (name: TemplateName): Content => {
  const template = findTemplate(name)!;
  return template.content(template.sample, template.secret === true ? '/secret?token=t' : '');
};

test.each(names)(
  '%s: its sample is what it asks for, and every word and link is in text and HTML',
  (name) => {
    const template = findTemplate(name)!;
    expect(Value.Check(template.data, template.sample)).toBe(true);
    expect(template.lives_hours).toBeGreaterThan(0);
    const content = contentOf(name);
    const { subject, text, html } = render(content, around);
    expect(subject.length).toBeGreaterThan(5);
    expect(subject.length).toBeLessThanOrEqual(150);
    const plain = text.replaceAll(/\s+/g, ' ');
    const shown = html
      .replaceAll('&#39;', "'")
      .replaceAll('&amp;', '&')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>');
    const links = content.blocks.flatMap((block) => (block.kind === 'action' ? [block.to] : []));
    const words = content.blocks.flatMap((block) => {
      if (block.kind === 'facts') return block.rows.flat();
      return block.kind === 'action' ? [block.label] : [block.text];
    });
    for (const word of [content.title, content.reason, ...words]) {
      expect(plain).toContain(word.replaceAll(/\s+/g, ' '));
      expect(shown).toContain(word);
    }
    for (const link of links) {
      const address = link.startsWith('/') ? around.console_url + link : link;
      expect(text).toContain(address);
      expect(shown).toContain(`href="${address}"`);
    }
    expect(links.some((link) => link.includes('token='))).toBe(template.secret === true);
    expect(`${text}${html}`).not.toMatch(/undefined|null|\[object|NaN/);
  },
);

test('lines of text stay within 72 characters, but for addresses and facts', () => {
  for (const name of names) {
    const { text } = render(
      { ...contentOf(name), blocks: contentOf(name).blocks.filter(({ kind }) => kind === 'text') },
      around,
    );
    for (const line of text.split('\n'))
      expect([name, line.length <= 72 || line.includes('://')]).toEqual([name, true]);
  }
});

test('no text becomes markup, another header or a second line of a subject', () => {
  const evil = `<script>alert("1")</script>\r\nBcc: all@example.com\u2028 & 'more'`;
  const { subject, html } = render(
    {
      subject: evil.repeat(9),
      preview: evil,
      title: evil,
      reason: evil,
      blocks: [
        { kind: 'text', text: evil },
        { kind: 'note', text: evil },
        { kind: 'facts', rows: [[evil, evil]] },
        { kind: 'action', label: evil, to: `https://x.example/"onclick="${evil}` },
      ],
    },
    around,
  );
  expect(subject).not.toMatch(/[\r\n\u2028]/);
  expect([...subject].length).toBe(150);
  expect(html).not.toContain('<script>');
  expect(html).not.toContain('"onclick="');
});
