import './theme/fonts.css';
import './theme/mantine.css';
import './theme/tokens.css';
import './theme/base.css';
import { createTheme, MantineProvider } from '@mantine/core';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createConsoleRouter, preloadAll, preloadPage } from './router.tsx';
import { wearStorefront } from './theme/storefront.ts';

const theme = createTheme({ fontFamily: 'var(--font)', fontFamilyMonospace: 'var(--mono)' });
const router = createConsoleRouter();

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

/** Long enough for the first page to have its data. */
const AHEAD_MS = 5_000;

async function start(root: HTMLElement): Promise<void> {
  wearStorefront();
  // The code of the page and the session are asked for together; until both are there the outline of index.html stays.
  preloadPage(location.pathname);
  await router.load();
  createRoot(root).render(
    <StrictMode>
      {/* Mantine's variables and classes come as files (theme/mantine.css): it must write no <style> element. */}
      <MantineProvider
        theme={theme}
        defaultColorScheme="auto"
        withCssVariables={false}
        withGlobalClasses={false}
      >
        <RouterProvider router={router} />
      </MantineProvider>
    </StrictMode>,
  );
  setTimeout(() => void preloadAll(), AHEAD_MS);
}

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
void start(root);
