// What pages may ask of the frame around them.
import { createContext, use } from 'react'

interface FrameActions {
  openClock: () => void
}

export const FrameContext = createContext<FrameActions>({ openClock: () => undefined })

/** Opens the panel that moves the clock of a sandbox. */
export const useOpenClock = (): (() => void) => use(FrameContext).openClock
