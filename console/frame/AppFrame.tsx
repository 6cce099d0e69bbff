import { AppShell, Box } from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { useMemo } from 'react'
import { Outlet } from 'react-router'
import { ClockOffsetContext } from '../components/now.ts'
import { TeamContext } from '../session/team.ts'
import { useTeamOfAddress } from '../session/team-of-address.ts'
import { PHONE } from '../theme.ts'
import { ClockButton } from './clock/ClockButton.tsx'
import { FrameContext } from './frame-context.ts'
import { Header } from './Header.tsx'
import { Navigation } from './Navigation.tsx'
import { NotFoundPage } from './NotFoundPage.tsx'
import { useClockOffset } from './clock/team-clock.ts'
import classes from './AppFrame.module.css'

/** The frame of a team's pages: header, navigation, and the band that says which environment this is. */
export function AppFrame() {
  const scope = useTeamOfAddress()
  if (!scope) return <NotFoundPage />
  return (
    <TeamContext value={scope} key={scope.key.join('/')}>
      <Frame />
    </TeamContext>
  )
}

function Frame() {
  const [isOpen, { toggle, close }] = useDisclosure()
  const [isClockOpen, clock] = useDisclosure()
  const actions = useMemo(() => ({ openClock: clock.open }), [clock.open])
  const isPhone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false })
  const offset_ms = useClockOffset()
  return (
    <FrameContext value={actions}>
      <ClockOffsetContext value={offset_ms}>
        <AppShell
          layout="alt"
          header={{ height: 'var(--header-height)' }}
          navbar={{ width: 'var(--navigation-width)', breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
          transitionDuration={100}
        >
          <a href="#content" className={classes.skip}>
            Skip to the content
          </a>
          <AppShell.Header>
            <Header
              isNavigationOpen={isOpen}
              onToggleNavigation={toggle}
              clock={<ClockButton isOpen={isClockOpen} onToggle={clock.toggle} onClose={clock.close} />}
            />
          </AppShell.Header>
          <AppShell.Navbar display={isPhone && !isOpen ? 'none' : undefined}>
            <Navigation onNavigate={close} isOpen={isOpen} onToggle={toggle} />
          </AppShell.Navbar>
          <AppShell.Main id="content" tabIndex={-1}>
            <Box className={classes.content}>
              <Outlet />
            </Box>
          </AppShell.Main>
        </AppShell>
      </ClockOffsetContext>
    </FrameContext>
  )
}
