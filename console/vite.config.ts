// The console is one page, split per route. `node console/build.ts` generates the documents and builds;
// `npx vite console` serves it for development over the admin server named by CONSOLE_ADMIN.
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const admin = process.env['CONSOLE_ADMIN'] ?? 'http://127.0.0.1:8081';
const proxy = Object.fromEntries(
  ['/graphql', '/v1'].map((path) => [path, { target: admin, changeOrigin: false }]),
);

export default defineConfig({
  plugins: [react()],
  // A file that is inlined as data: would need an exception of the content security policy.
  build: { assetsInlineLimit: 0, reportCompressedSize: true, target: 'es2024' },
  server: { port: 5173, strictPort: false, proxy },
  preview: { proxy },
});
