// Slugs of sports and foods, whose names may be in any language.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slugOf, sportOf } from './sports.ts'

test('names beyond ASCII are transliterated', () => {
  const slugs: Record<string, string> = {
    Running: 'running',
    'Stand-up  Paddling ': 'stand_up_paddling',
    Völkerball: 'volkerball',
    'VO\u0308LKERBALL': 'volkerball',
    völkerball: 'volkerball',
    'Fußball (Halle)': 'fussball_halle',
    Vélo: 'velo',
    Çim: 'cim',
    'İp Atlama': 'ip_atlama',
    'Løb på Ærø': 'lob_pa_aero',
    Łyżwiarstwo: 'lyzwiarstwo',
    Ｙｏｇａ: 'yoga',
    Плавание: 'plavanie',
    Йога: 'ioga',
    Κολύμβηση: 'kolymvisi',
    羽毛球: 'u7fbd_u6bdb_u7403',
    テニス: 'u30c6_u30cb_u30b9',
    '🏃': '',
    '': '',
  }
  for (const [name, slug] of Object.entries(slugs)) assert.equal(slugOf(name), slug, name)
})

test('a sport without letters is other, and two names in another script are two sports', () => {
  assert.equal(sportOf('🏃').slug, 'other')
  assert.notEqual(sportOf('羽毛球').slug, sportOf('足球').slug)
  assert.notEqual(sportOf('羽毛球').id, sportOf('足球').id)
  assert.equal(sportOf('Völkerball').name, 'Völkerball')
})
