// The tokens of the console: colors, sizes and type. No other file names a color or a size of type.
import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core'

/** The accent: links, primary buttons, focus. */
const accent: MantineColorsTuple = [
  '#eef6fa',
  '#d9e9f1',
  '#b5d4e3',
  '#8dbdd4',
  '#6baac8',
  '#559dc0',
  '#3f86ab',
  '#256a8e',
  '#1d5674',
  '#15425b',
]

/** Grounds, borders and texts of dark pages, from text to ground. */
const dark: MantineColorsTuple = [
  '#e4eaee',
  '#c3ced6',
  '#a0adb8',
  '#7d8b96',
  '#3b4852',
  '#2a353d',
  '#1d262d',
  '#12181d',
  '#0e1317',
  '#0a0e11',
]

export const theme = createTheme({
  colors: { accent, dark },
  primaryColor: 'accent',
  primaryShade: 7,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  lineHeights: { xs: '1.45', sm: '1.45', md: '1.45', lg: '1.45', xl: '1.3' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  radius: { xs: '4px', sm: '6px', md: '6px', lg: '6px', xl: '6px' },
  defaultRadius: 'sm',
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '20px', lineHeight: '1.3' },
      h2: { fontSize: '16px', lineHeight: '1.35' },
      h3: { fontSize: '14px', lineHeight: '1.45' },
    },
  },
  respectReducedMotion: true,
  cursorType: 'pointer',
  components: {
    Tooltip: { defaultProps: { openDelay: 300, transitionProps: { duration: 100 } } },
    Menu: { defaultProps: { transitionProps: { duration: 100 } } },
    Modal: { defaultProps: { transitionProps: { duration: 120 } } },
    Drawer: { defaultProps: { transitionProps: { duration: 120 } } },
    Popover: { defaultProps: { transitionProps: { duration: 100 } } },
    Button: { defaultProps: { size: 'sm', fw: 500 } },
    TextInput: { defaultProps: { size: 'sm' } },
    Select: { defaultProps: { size: 'sm' } },
    SegmentedControl: { defaultProps: { transitionDuration: 0 } },
  },
})

/** What a status means to the person who sees it. The shape beside the word differs as well (`StatusBadge`). */
export type Tone = 'neutral' | 'progress' | 'good' | 'attention' | 'failed'

/** Widths below which the layout changes. Media queries of style sheets use the same breakpoints of Mantine (`sm` is 48em). */
export const PHONE = '(max-width: 47.99em)'

/** Variables for style sheets beside those of Mantine. Each color has a contrast of at least 4.5:1 with its ground. */
export const resolveVariables: CSSVariablesResolver = () => ({
  variables: {
    '--row-height': '36px',
    '--header-height': '48px',
    '--navigation-width': '216px',
  },
  light: {
    '--mantine-color-error': 'var(--failed)',
    '--mantine-color-placeholder': 'var(--mantine-color-dimmed)',
    '--mantine-color-body': '#ffffff',
    '--mantine-color-text': '#1b2329',
    '--mantine-color-dimmed': '#56636e',
    '--mantine-color-anchor': '#1f6084',
    '--ground-raised': '#f6f8f9',
    '--ground-hover': '#eef2f4',
    '--ground-selected': '#e3eff6',
    '--line': '#d9e0e5',
    '--sandbox': '#6d4bc4',
    '--sandbox-ground': '#f1edfb',
    '--neutral': '#56636e',
    '--neutral-ground': '#eef1f3',
    '--progress': '#1d5f8a',
    '--progress-ground': '#e4f0f8',
    '--good': '#1c6b3f',
    '--good-ground': '#e3f4ea',
    '--attention': '#8a4b00',
    '--attention-ground': '#fdf0dc',
    '--failed': '#b3261e',
    '--failed-ground': '#fce9e8',
  },
  dark: {
    '--mantine-color-error': 'var(--failed)',
    '--mantine-color-placeholder': 'var(--mantine-color-dimmed)',
    '--mantine-color-body': '#12181d',
    '--mantine-color-text': '#e4eaee',
    '--mantine-color-dimmed': '#a0adb8',
    '--mantine-color-anchor': '#8cc6e4',
    '--ground-raised': '#182026',
    '--ground-hover': '#1f2930',
    '--ground-selected': '#1b3443',
    '--line': '#2e3a43',
    '--sandbox': '#b9a3f5',
    '--sandbox-ground': '#251f3a',
    '--neutral': '#a8b4be',
    '--neutral-ground': '#242d34',
    '--progress': '#8cc6e4',
    '--progress-ground': '#173041',
    '--good': '#82d3a3',
    '--good-ground': '#15301f',
    '--attention': '#f0b866',
    '--attention-ground': '#362611',
    '--failed': '#ff9f97',
    '--failed-ground': '#3d1b19',
  },
})
