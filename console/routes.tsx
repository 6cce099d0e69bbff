// The routes: everything is below the session gate, and each page is loaded when it is opened.
import { createBrowserRouter } from 'react-router'
import { AppFrame } from './frame/AppFrame.tsx'
import { FirstTeam } from './frame/FirstTeam.tsx'
import { NotFoundPage } from './frame/NotFoundPage.tsx'
import { RouteError } from './frame/RouteError.tsx'
import { basePath } from './page-context.ts'
import { PAGES } from './pages.ts'
import { SessionGate } from './session/SessionGate.tsx'

export const router = createBrowserRouter(
  [
    ...['setup', 'invite', 'reset'].map((path) => ({
      path,
      errorElement: <RouteError />,
      hydrateFallbackElement: <></>,
      lazy: async () => ({ Component: (await import('./session/OneTimeLinkPage.tsx')).OneTimeLinkPage }),
    })),
    {
      element: <SessionGate />,
      errorElement: <RouteError />,
      // Shown while the first page is loaded; the frame then shows its own.
      hydrateFallbackElement: <></>,
      children: [
        { index: true, element: <FirstTeam /> },
        {
          path: ':team/:cell',
          element: <AppFrame />,
          children: [
            ...PAGES.map(({ path, load }) => ({
              path,
              errorElement: <RouteError />,
              lazy: async () => ({ Component: await load() }),
            })),
            { path: '*', element: <NotFoundPage /> },
          ],
        },
        { path: '*', element: <NotFoundPage /> },
      ],
    },
  ],
  { basename: `${basePath}/console` },
)
