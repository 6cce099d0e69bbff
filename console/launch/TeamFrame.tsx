import { AppFrame } from '../frame/AppFrame.tsx'
import { useLaunch } from '../session/session.ts'
import { EmbeddedFrame } from './EmbeddedFrame.tsx'

/** The frame of the pages of a team: for members and for links that lead here the whole console, in the page of another program nothing. */
export function TeamFrame() {
  const launch = useLaunch()
  return launch?.modality === 'feature_embed' ? <EmbeddedFrame launch={launch} /> : <AppFrame />
}
