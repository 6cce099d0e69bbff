// Makes src/visits/geocoding/data/us-postal-codes.tsv.br of GeoNames' table of the postal codes of the United States:
// `node scripts/us-postal-codes.ts US.txt`, where US.txt is from https://download.geonames.org/export/zip/US.zip.
import { readFileSync, writeFileSync } from 'node:fs'
import { brotliCompressSync, constants } from 'node:zlib'

const TARGET = 'src/visits/geocoding/data/us-postal-codes.tsv.br'
/** Columns of GeoNames. */
const [ZIP, CITY, STATE, LAT, LNG] = [1, 2, 4, 9, 10] as const

const places = new Map<string, string>()
for (const line of readFileSync(process.argv[2]!, 'utf8').split('\n')) {
  const fields = line.split('\t')
  const row = [ZIP, CITY, STATE, LAT, LNG].map((column) => fields[column] ?? '')
  const [zip] = row as [string]
  // A code that occurs twice counts once.
  if (/^\d{5}$/.test(zip) && row[3] && row[4] && !places.has(zip)) places.set(zip, row.join('\t'))
}
const table = [...places.keys()].toSorted().map((zip) => `${places.get(zip)}\n`)
const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 }
writeFileSync(TARGET, brotliCompressSync(table.join(''), { params }))
process.stdout.write(`${places.size} postal codes\n`)
