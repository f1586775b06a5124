// Two consoles of one workspace, each one page that is split per route: index.html for customers, and with the mode
// `staff` staff.html for staff. `node console/build.ts` generates the documents and builds both; `npx vite console` serves
// the first for development over the admin server named by CONSOLE_ADMIN.
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const admin = process.env['CONSOLE_ADMIN'] ?? 'http://127.0.0.1:8081';
const proxy = Object.fromEntries(
  ['/graphql', '/v1'].map((path) => [path, { target: admin, changeOrigin: false }]),
);

/**
 * What every page needs, in one file: a browser asks an HTTP/1.1 server for six files at a time, so that on a line with
 * 400 ms of delay twenty small files take a second longer than one. What opens over a page, what few people see, charts and
 * forms stay apart.
 */
const base = {
  name: 'base',
  test: /console\/src\/(?:api|app|ui)\/(?!.*(?:main|look-note|suspended-note|sign-up|account|palette|overlays|shortcut-table|create-org|dialog|chart|snippet|field|gen\/tools))/,
};

export default defineConfig(({ mode }) => ({
  plugins: [react()],
  build: {
    outDir: mode === 'staff' ? 'dist-staff' : 'dist',
    // A file that is inlined as data: would need an exception of the content security policy.
    assetsInlineLimit: 0,
    // One style sheet: those of all pages together are small, and a page whose own did not load would be in pieces.
    cssCodeSplit: false,
    reportCompressedSize: true,
    // What is passed on inside the files comes with its licenses.
    license: { fileName: 'licenses.json' },
    target: 'es2024',
    rolldownOptions: {
      input: mode === 'staff' ? 'staff.html' : 'index.html',
      output: { codeSplitting: { groups: [base] } },
    },
  },
  server: { port: 5173, strictPort: false, proxy },
  preview: { proxy },
}));
