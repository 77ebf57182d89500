"""The page's style sheet, light and dark, and its script."""

from __future__ import annotations

STYLE = """
:root{--paper:#f6f5f2;--card:#fff;--ink:#1c1e26;--soft:#666b7a;--line:#e2e0da;--code:#f1efea;--dispatch:#4254c5;
--copy:#0d8a6c;--barrier:#b07a10;--marker:#8b48b8;--alarm:#c8321f;--warn:#9a6700;--alarm-paper:#fdecea;
--warn-paper:#fdf4dc;--shade:0 1px 2px #0000000d,0 4px 16px #0000000a}
@media(prefers-color-scheme:dark){:root{--paper:#14151a;--card:#1d1f27;--ink:#e7e8ee;--soft:#9a9fb0;--line:#31343f;
--code:#262933;--dispatch:#92a2ff;--copy:#4fcfab;--barrier:#e4b04a;--marker:#cf9af2;--alarm:#ff8a7a;--warn:#ecc154;
--alarm-paper:#3a1f1d;--warn-paper:#35290f;--shade:none}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
@media(prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
body{margin:0;padding:1.25rem clamp(.75rem,4vw,3rem) 6rem;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;-webkit-text-size-adjust:100%}
header,main{max-width:64rem;margin:0 auto}
h1{font-size:1.6rem;margin:0 0 .6rem;letter-spacing:-.02em}
h2{font-size:1.1rem;margin:2rem 0 0;overflow-wrap:anywhere}
h3{font-size:1rem;margin:0}
h4{font-size:.78rem;margin:1rem 0 .4rem;color:var(--soft);text-transform:uppercase;letter-spacing:.06em}
h5{font-size:.85rem;margin:0 0 .35rem;color:var(--marker)}
ul,ol,dl,p{margin:0;padding:0}
ul,.names{list-style:none}
code,pre,.elements{font-family:ui-monospace,"Cascadia Mono",Menlo,Consolas,monospace;font-size:.82rem}
.quiet{color:var(--soft);font-size:.85rem}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:1rem;background:var(--card);padding:.5rem 1rem;z-index:2}
:focus-visible{outline:2px solid var(--dispatch);outline-offset:2px;border-radius:6px}
.facts{display:flex;flex-wrap:wrap;gap:.5rem}
.facts li{background:var(--card);border:1px solid var(--line);border-radius:999px;padding:.2rem .8rem;
color:var(--soft);font-size:.88rem}
.facts b{color:var(--ink)}
.facts .alarm,.facts .alarm a,.facts .alarm b{color:var(--alarm);border-color:currentColor}
.tools{display:flex;flex-wrap:wrap;gap:.5rem .75rem;align-items:center;margin-top:1rem}
.tools input{flex:1 1 14rem;min-width:0;font:inherit;color:inherit;background:var(--card);padding:.45rem .8rem;
border:1px solid var(--line);border-radius:8px}
.tools button{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:8px;
padding:.45rem .9rem;cursor:pointer}
.keys{color:var(--soft);font-size:.8rem}
kbd{font:inherit;background:var(--card);border:1px solid var(--line);border-bottom-width:2px;border-radius:4px;
padding:0 .35em}
@media(hover:none){.keys{display:none}}
nav{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:.8rem 1rem;margin:1rem 0;
box-shadow:var(--shade)}
.lanes{display:flex;gap:.75rem}
.names{flex:none;max-width:9rem;padding-top:4px;font-size:.8rem;color:var(--soft)}
.names li{height:38px;line-height:26px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.strip{overflow-x:auto;flex:1}
.strip svg{display:block}
.block{fill:var(--code);stroke:var(--line)}
nav .dispatch{fill:var(--dispatch)}nav .copy{fill:var(--copy)}nav .barrier{fill:var(--barrier)}
nav .marker{fill:var(--marker)}nav .other{fill:var(--soft)}nav .alarm{fill:var(--alarm);stroke:var(--card)}
nav a:hover rect{opacity:.6}
.key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.78rem;color:var(--soft);margin-top:.3rem}
.key li:before{content:"";display:inline-block;width:.6rem;height:.6rem;border-radius:2px;margin-right:.35rem;
background:var(--soft)}
.key .key-dispatch:before{background:var(--dispatch)}.key .key-copy:before{background:var(--copy)}
.key .key-barrier:before{background:var(--barrier)}.key .key-marker:before{background:var(--marker)}
.key .key-message:before{background:var(--alarm)}
.execution{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:.9rem 1rem;margin:.6rem 0;
box-shadow:var(--shade)}
.command{border:1px solid var(--line);border-left:4px solid var(--soft);border-radius:8px;margin:.35rem 0;
background:var(--card);overflow-wrap:anywhere;scroll-margin:40vh 0}
p.command{padding:.35rem .75rem;display:flow-root}
.command.small{border:0;padding:.1rem .75rem}
.command.copy{border-left-color:var(--copy)}
.command.dispatch{border-left-color:var(--dispatch)}
.dispatch>summary{padding:.45rem .75rem;cursor:pointer;display:grid;grid-template-columns:auto 1fr auto auto;
gap:0 .7rem;align-items:baseline;list-style:none}
.dispatch>summary::-webkit-details-marker{display:none}
.dispatch>summary:after{content:"\\203a";color:var(--soft);transition:transform .15s}
.dispatch[open]>summary:after{transform:rotate(90deg)}
.dispatch[open]>summary{border-bottom:1px solid var(--line)}
.dispatch .shapes{margin-left:.7rem}
.number{min-width:1.6rem;color:var(--dispatch);font-weight:600;font-variant-numeric:tabular-nums}
.time{color:var(--soft);font-size:.8rem;font-variant-numeric:tabular-nums;white-space:nowrap}
p .time{float:right;margin-left:.75rem}
.command:target,.barriers:target{box-shadow:0 0 0 2px var(--dispatch)}
.tensors{padding:.3rem .75rem}
.tensors>li{padding:.5rem 0;border-bottom:1px solid var(--line)}
.tensors>li:last-child{border:0}
.tensors .head{display:flex;flex-wrap:wrap;gap:.1rem .75rem;align-items:baseline}
.tensors .output .head b:before{content:"→ ";color:var(--dispatch)}
.elements{display:block;white-space:pre;overflow-x:auto;background:var(--code);border-radius:6px;padding:.3rem .6rem;
margin:.3rem 0}
.bars{height:17px;max-width:100%;vertical-align:middle;margin-right:.6rem}
.bars path{stroke:var(--dispatch);stroke-width:1.3;fill:none}
.bounds{vertical-align:middle}
.attributes{display:flex;flex-wrap:wrap;gap:.3rem .5rem;padding:.2rem .75rem .5rem}
.attributes dt{color:var(--soft);font-size:.85rem}
.attributes dd{margin:0 .6rem 0 0;font-size:.85rem;font-weight:600;overflow-wrap:anywhere}
.nodes{padding:0 .75rem .6rem 2.4rem;font-size:.85rem}
.dispatch>.quiet{padding:.4rem .75rem}
.raw{padding:0 .75rem .6rem;color:var(--soft);font-size:.82rem}
.raw summary{cursor:pointer}
.raw pre{background:var(--code);border-radius:6px;padding:.6rem;overflow-x:auto;color:var(--ink);max-height:24rem}
.barriers{color:var(--barrier);font-size:.83rem;padding:.1rem 0}
.barriers li{display:flex;align-items:center;gap:.6rem}
.barriers li:before,.barriers li:after{content:"";flex:1;border-top:1px dashed currentColor;opacity:.6;min-width:.75rem}
.barriers li b{margin:0 -.3rem 0 0;font-weight:600}
.message{background:var(--warn-paper);border-left:4px solid var(--warn);border-radius:8px;padding:.5rem .8rem;
margin:.4rem 0;font-size:.88rem;overflow-wrap:anywhere}
.message b{color:var(--warn)}
.message.error{background:var(--alarm-paper);border-left-color:var(--alarm)}
.message.error b{color:var(--alarm)}
.span{border:1px solid var(--marker);border-radius:10px;padding:.5rem .6rem;margin:.5rem 0;scroll-margin:40vh 0}
.marker{color:var(--marker)}
p.marker{font-size:.88rem;padding:.15rem .75rem}
.fence{font-size:.85rem;color:var(--soft);padding:.05rem 1rem;border-left:2px solid var(--line);margin-left:1rem}
.fence i{font-style:normal;color:var(--ink)}
.fence b{font-weight:600}
.fence.wait{border-left-color:var(--barrier)}
.fence.set{border-left-color:var(--copy)}
.note{color:var(--warn);font-size:.88rem}
.hidden{display:none!important}
@media(max-width:34rem){body{font-size:14px}.execution{padding:.7rem .6rem}.names{max-width:5rem}}
@media print{.tools,.skip{display:none}.execution{break-inside:avoid}}
"""

SCRIPT = """
(() => {
  const all = [...document.querySelectorAll('.command, .barriers, .message')];
  const filter = document.getElementById('filter');
  const unfold = document.getElementById('unfold');
  const shown = item => item.offsetParent !== null && !item.matches('.small');
  const focused = item => item.querySelector(':scope > summary') || item;
  all.forEach(item => { if (!item.querySelector(':scope > summary')) item.tabIndex = -1; });
  const go = (step, items) => {
    const visible = items.filter(shown);
    const active = document.activeElement;
    let index = visible.findIndex(item => focused(item) === active);
    if (index < 0) index = step > 0 ? -1 : visible.length;
    const next = visible[index + step];
    if (next) { focused(next).focus({preventScroll: true}); next.scrollIntoView({block: 'center'}); }
  };
  filter.addEventListener('input', () => {
    const words = filter.value.toLowerCase().split(/\\s+/).filter(Boolean);
    const kinds = {hazard: '.message', message: '.message', barrier: '.barriers', dispatch: '.dispatch', copy: '.copy'};
    all.forEach(item => {
      const text = item.textContent.toLowerCase();
      const fits = word => text.includes(word) || (kinds[word] && item.matches(kinds[word]));
      item.classList.toggle('hidden', !words.every(fits));
    });
    document.querySelectorAll('.execution').forEach(card =>
      card.classList.toggle('hidden', words.length > 0 &&
        !card.querySelector('.command:not(.hidden), .barriers:not(.hidden), .message:not(.hidden)')));
    document.querySelectorAll('.fence').forEach(line => line.classList.toggle('hidden', words.length > 0));
  });
  unfold.addEventListener('click', () => {
    const open = unfold.textContent === 'Open all';
    document.querySelectorAll('details.dispatch').forEach(item => { item.open = open; });
    unfold.textContent = open ? 'Close all' : 'Open all';
  });
  const follow = () => {
    const item = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (item && item.matches('details')) item.open = true;
  };
  addEventListener('hashchange', follow);
  follow();
  addEventListener('keydown', event => {
    if (event.target === filter) { if (event.key === 'Escape') filter.blur(); return; }
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const messages = all.filter(item => item.matches('.message'));
    const does = {j: () => go(1, all), k: () => go(-1, all), h: () => go(1, messages), '/': () => filter.focus()};
    if (does[event.key]) { event.preventDefault(); does[event.key](); }
  });
})();
"""
