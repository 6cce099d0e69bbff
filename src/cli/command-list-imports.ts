// Commands that import an operator's files: catalog, places, sites, schedules, payors, diagnoses, phlebotomists.
import type { Group, Leaf } from './command-tree.ts'

type Options = NonNullable<Leaf['options']>
type Work = NonNullable<Leaf['onCells']>

const command =
  (onCells: Work) =>
  (usage: string, summary: string, examples: string[], options: Options = []): Leaf => ({
    usage,
    summary,
    examples,
    options,
    onCells,
  })

const catalog = command(async (cells, typed) => (await import('./commands/catalog.ts')).catalogCommand(cells, typed))
const places = command(async (cells, typed, { ask }) =>
  (await import('./commands/places.ts')).postalCodesCommand(cells, typed, ask),
)
const psc = command(async (cells, typed) => (await import('./commands/psc.ts')).pscCommand(cells, typed))
const schedule = command(async (cells, typed) => (await import('./commands/psc-schedule.ts')).scheduleCommand(cells, typed))
const insurance = command(async (cells, typed, { ask }) =>
  (await import('./commands/insurance.ts')).insuranceCommand(cells, typed, ask),
)
const phlebotomy = command(async (cells, typed) => (await import('./commands/phlebotomy.ts')).phlebotomyCommand(cells, typed))

const lab: [string, string] = ['--lab <lab>', 'the laboratory (required)']
const everyCell: [string, string] = ['--cell <cell>', 'only this cell; without it every cell that is served']
const production: [string, string] = ['--cell <cell>', 'only this cell (default: the production cells)']
const strict: [string, string] = ['--strict', 'import nothing unless every entry is valid']
const org: [string, string] = ['--org <id>', "phlebotomists of this organization (default: the operator's, for every team)"]

export const imports: Group[] = [
  {
    usage: 'catalog',
    summary: 'labs, analytes and markers of a cell',
    commands: [
      catalog(
        'export',
        'print the catalog of a cell as a file',
        ['catalog export --cell production-us > catalog.json'],
        [['--cell <cell>', 'the cell (default: sandbox-us)']],
      ),
      catalog(
        'import <file>',
        'import a catalog file into a cell; on any error, import nothing and list the errors',
        ['catalog import catalog.json --cell production-us'],
        [['--cell <cell>', 'the cell (required)']],
      ),
    ],
  },
  {
    usage: 'places',
    summary: 'postal codes',
    commands: [
      places(
        'import <file>',
        'put the postal codes of a file in place of those of its countries, as GeoNames offers them',
        ['places import DE.txt --dry-run', 'places import allCountries.txt --country FR --yes'],
        [
          ['--country <code>', 'only this country'],
          everyCell,
          ['--dry-run', 'print what would be removed and change nothing'],
          ['--yes', 'remove postal codes that are missing in the file without asking'],
        ],
      ),
    ],
  },
  {
    usage: 'psc',
    summary: 'patient service centers, their schedules and bookings',
    commands: [
      psc(
        'import <file>',
        'take sites from CSV or GeoJSON',
        ['psc import sites.csv --lab quest', 'psc import sites.geojson --lab labcorp --cell production-us --strict'],
        [lab, strict, production],
      ),
      psc(
        'list',
        'say how many sites there are, or list those of a lab',
        ['psc list', 'psc list --lab quest'],
        [['--lab <lab>', 'the sites of this laboratory'], everyCell],
      ),
      psc('activate <code...>', 'show sites again', ['psc activate CODE --lab quest'], [lab, everyCell]),
      psc('deactivate <code...>', 'show sites no longer', ['psc deactivate CODE CODE --lab quest'], [lab, everyCell]),
      {
        usage: 'schedule',
        summary: 'appointment schedules of sites',
        commands: [
          schedule(
            'import <file>',
            'take schedules from CSV or JSON',
            ['psc schedule import schedules.csv --lab quest'],
            [lab, strict, production],
          ),
          schedule('list', 'list list sites with a schedule', ['psc schedule list --lab quest'], [lab, everyCell]),
          schedule(
            'show <code...>',
            'print schedules, to be edited and imported again',
            ['psc schedule show PHX-1 --lab quest --cell production-us > phx-1.json'],
            [lab, everyCell],
          ),
          schedule(
            'remove <code...>',
            'take no more appointments there',
            ['psc schedule remove PHX-1 --lab quest'],
            [lab, everyCell],
          ),
        ],
      },
      {
        usage: 'booking',
        summary: 'list bookings pending confirmation',
        commands: [
          schedule('list', 'list them', ['psc booking list --cell production-us'], [everyCell]),
          schedule(
            'confirm <id>',
            'confirm one',
            ['psc booking confirm BOOKING_ID --cell production-us'],
            [['--cell <cell>', 'the cell (required)']],
          ),
          schedule(
            'refuse <id>',
            'refuse one; its appointment is cancelled',
            ['psc booking refuse BOOKING_ID --cell production-us'],
            [['--cell <cell>', 'the cell (required)']],
          ),
        ],
      },
    ],
  },
  {
    usage: 'payors',
    summary: 'the payor directory',
    commands: [
      insurance('import <file>', 'add payors of a CSV file, and change those with the same codes, in every cell', [
        'payors import FILE.csv',
      ]),
    ],
  },
  {
    usage: 'icd',
    summary: 'diagnosis codes for billing',
    commands: [
      insurance(
        'import <file>',
        "put the diagnoses of a file in place of those there are: CSV, or CMS's icd10cm-order-YYYY.txt",
        ['icd import icd10cm-order-2026.txt --dry-run', 'icd import icd10cm-order-2026.txt --yes'],
        [
          ['--dry-run', 'print what would change and change nothing'],
          ['--yes', 'remove codes that are missing in the file without asking'],
        ],
      ),
    ],
  },
  {
    usage: 'phlebotomy',
    summary: 'phlebotomists for at-home appointments',
    commands: [
      phlebotomy(
        'import <file>',
        'take them from a JSON file',
        ['phlebotomy import staff.json --org ORG_ID --cell production-us'],
        [org, strict, production],
      ),
      phlebotomy('list', 'list them', ['phlebotomy list --org ORG_ID'], [org, production]),
      phlebotomy(
        'remove <reference...>',
        'take them away; says for each cell what was done',
        ['phlebotomy remove north-team --org ORG_ID'],
        [org, production],
      ),
    ],
  },
]
