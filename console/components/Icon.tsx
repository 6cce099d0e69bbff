import classes from './Icon.module.css'

/** Paths of strokes on a grid of 24. */
const PATHS = {
  attention: 'M12 4 2.8 20h18.4L12 4Zm0 6v4m0 3v.01',
  catalog: 'M5 4h11l3 3v13H5V4Zm4 6h6m-6 4h6',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  chevron: 'm7 10 5 5 5-5',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Zm0 4.5V12l3 2',
  close: 'm6 6 12 12M18 6 6 18',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  dots: 'M5 12v.01M12 12v.01M19 12v.01',
  events: 'M13 3 5 14h6l-1 7 8-11h-6l1-7Z',
  external: 'M14 4h6v6m0-6-9 9M18 14v6H4V6h6',
  health: 'M3 12h4l3-7 4 14 3-7h4',
  help: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Zm-2.5 6.5a2.5 2.5 0 1 1 3.6 2.2c-.8.5-1.1 1-1.1 1.8m0 3v.01',
  links: 'M10 14a4 4 0 0 0 5.7 0l3.1-3.1a4 4 0 0 0-5.7-5.7L12 6.3m2 3.7a4 4 0 0 0-5.7 0l-3.1 3.1a4 4 0 0 0 5.7 5.7L12 17.7',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5Z',
  orders: 'M9 3h6m-5 0v6l-5 9a2 2 0 0 0 1.7 3h10.6a2 2 0 0 0 1.7-3l-5-9V3M8 15h8',
  overview: 'M4 4h7v9H4zM13 4h7v5h-7zM13 11h7v9h-7zM4 15h7v5H4z',
  places: 'M12 21s-7-6.2-7-11.5a7 7 0 0 1 14 0C19 14.8 12 21 12 21Zm0-9a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z',
  plus: 'M12 5v14M5 12h14',
  requests: 'M4 8h13m-3-4 4 4-4 4M20 16H7m3-4-4 4 4 4',
  reviews: 'M4 5h16v11H9l-5 4V5Zm5 5.5 2 2 4-4',
  search: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13Zm5 11.5L21 21',
  settings: 'M4 7h10m4 0h2M4 17h2m4 0h10M16 4.5v5M8 14.5v5',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8Zm0-5v2m0 14v2M3 12h2m14 0h2M5.6 5.6 7 7m10 10 1.4 1.4M18.4 5.6 17 7M7 17l-1.4 1.4',
  users:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Zm-6 9c0-3.3 2.7-5.5 6-5.5s6 2.2 6 5.5m1-8.8a3.5 3.5 0 0 0 0-6.9m2 10.4c1.9.8 3 2.6 3 5.3',
  work: 'M4 6h4v12H4zM10 6h4v8h-4zM16 6h4v5h-4z',
} as const

export type IconName = keyof typeof PATHS

/** A decorative icon: the word beside it, or the label of its button, says what it means. */
export const Icon = ({ name, size = 18 }: { name: IconName; size?: number }) => (
  <svg className={classes.icon} viewBox="0 0 24 24" width={size} height={size} aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
)
