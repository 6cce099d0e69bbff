// Commands that import an operator's files: catalog, places, sites, schedules, payors, diagnoses, phlebotomists.
import { alwaysJson, commandsOf, oneCell, someCells, type Group, type OptionText } from './command-tree.ts'

const catalog = commandsOf(() => import('./commands/catalog.ts'))
const places = commandsOf(() => import('./commands/places.ts'))
const psc = commandsOf(() => import('./commands/psc.ts'))
const schedule = commandsOf(() => import('./commands/psc-schedule.ts'))
const booking = commandsOf(() => import('./commands/psc-booking.ts'))
const loinc = commandsOf(() => import('./commands/loinc.ts'))
const insurance = commandsOf(() => import('./commands/insurance.ts'))
const phlebotomy = commandsOf(() => import('./commands/phlebotomy.ts'))

const json: OptionText = ['--json', 'print JSON']
const lab: OptionText = ['--lab <lab>', 'the laboratory (required)']
const strict: OptionText = ['--strict', 'import nothing unless every entry is valid']
const org: OptionText = ['--org <id>', "phlebotomists of this organization (default: the operator's, for every team)"]

/** What laboratories offer, for orders. */
export const catalogs: Group[] = [
  {
    usage: 'catalog',
    summary: 'labs, analytes and markers of a cell',
    commands: [
      catalog(
        'exportToText',
        'export',
        'print the catalog of a cell as a file',
        ['catalog export --cell production-us > catalog.json'],
        [oneCell],
      ),
      catalog(
        'importFile',
        'import <file>',
        'import a catalog file into a cell; on any error, import nothing and list the errors',
        ['catalog import catalog.json --cell production-us'],
        [oneCell],
      ),
    ],
  },
]

export const directories: Group[] = [
  {
    usage: 'places',
    summary: 'postal codes',
    commands: [
      places(
        'importPlaces',
        'import <file>',
        'put the postal codes of a file in place of those of its countries, as GeoNames offers them',
        ['places import DE.txt --dry-run', 'places import allCountries.txt --country FR --cell all --yes'],
        [
          ['--country <code>', 'only this country'],
          someCells,
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
        'importFile',
        'import <file>',
        'take sites from CSV or GeoJSON',
        ['psc import sites.csv --lab quest --cell production-us', 'psc import sites.geojson --lab labcorp --cell all --strict'],
        [lab, strict, someCells],
      ),
      psc(
        'list',
        'list',
        'say how many sites there are, or list those of a lab',
        ['psc list --cell all', 'psc list --lab quest'],
        [['--lab <lab>', 'the sites of this laboratory'], someCells, json],
      ),
      psc(
        'activate',
        'activate <code...>',
        'show sites again',
        ['psc activate CODE --lab quest --cell production-us'],
        [lab, someCells],
      ),
      psc(
        'deactivate',
        'deactivate <code...>',
        'show sites no longer',
        ['psc deactivate CODE CODE --lab quest --cell all'],
        [lab, someCells],
      ),
      {
        usage: 'schedule',
        summary: 'appointment schedules of sites',
        commands: [
          schedule(
            'importFile',
            'import <file>',
            'take schedules from CSV or JSON',
            ['psc schedule import schedules.csv --lab quest --cell production-us'],
            [lab, strict, someCells],
          ),
          schedule(
            'list',
            'list',
            'list the sites that have a schedule',
            ['psc schedule list --lab quest'],
            [lab, someCells, json],
          ),
          schedule(
            'show',
            'show <code...>',
            'print schedules, to be edited and imported again',
            ['psc schedule show PHX-1 --lab quest --cell production-us > phx-1.json'],
            [lab, someCells, alwaysJson],
          ),
          schedule(
            'remove',
            'remove <code...>',
            'take no more appointments there',
            ['psc schedule remove PHX-1 --lab quest --cell all'],
            [lab, someCells],
          ),
        ],
      },
      {
        usage: 'booking',
        summary: 'bookings pending confirmation',
        commands: [
          booking('list', 'list', 'list them', ['psc booking list --cell production-us'], [someCells, json]),
          booking('confirm', 'confirm <id>', 'confirm one', ['psc booking confirm BOOKING_ID --cell production-us'], [oneCell]),
          booking(
            'refuse',
            'refuse <id>',
            'refuse one; its appointment is cancelled',
            ['psc booking refuse BOOKING_ID --cell production-us'],
            [oneCell],
          ),
        ],
      },
    ],
  },
  {
    usage: 'payors',
    summary: 'the payor directory',
    commands: [
      insurance(
        'importPayorFile',
        'import <file>',
        'add payors of a CSV file, and change those with the same codes, in every cell',
        ['payors import FILE.csv'],
      ),
    ],
  },
  {
    usage: 'icd',
    summary: 'diagnosis codes for billing',
    commands: [
      insurance(
        'importDiagnosisFile',
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
    usage: 'loinc',
    summary: 'the full LOINC release for lab reports',
    commands: [
      loinc(
        'importLoincFile',
        'import <file>',
        'put the laboratory terms of LoincTable/Loinc.csv in place of those there are, in every cell',
        ['loinc import Loinc.csv --dry-run', 'loinc import Loinc.csv --yes'],
        [
          ['--dry-run', 'print what would change and change nothing'],
          ['--yes', 'remove terms that are missing in the file without asking'],
        ],
      ),
    ],
  },
  {
    usage: 'phlebotomy',
    summary: 'phlebotomists for at-home appointments',
    commands: [
      phlebotomy(
        'importFile',
        'import <file>',
        'take them from a JSON file',
        ['phlebotomy import staff.json --org ORG_ID --cell production-us'],
        [org, strict, someCells],
      ),
      phlebotomy('list', 'list', 'list them', ['phlebotomy list --org ORG_ID'], [org, someCells, json]),
      phlebotomy(
        'remove',
        'remove <reference...>',
        'take them away; says for each cell what was done',
        ['phlebotomy remove north-team --org ORG_ID'],
        [org, someCells],
      ),
    ],
  },
]
