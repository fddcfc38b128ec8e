"""What presses on feelings in English, in words: rules that hold a text back by themselves, and hints that weigh.

Texts come in small letters with straight apostrophes. No gap is longer than a sentence.
"""

from collections.abc import Mapping

import regex

I_AM = (
    r"\b(?:i'?m|i am|i've been|i have been|i was|i feel|i felt|i'm feeling)(?: (?:so|just|really|"
    r"still|literally|very|all|always|only|been|here|feeling|left|sitting|completely|utterly))*"
)
OTHERS = (
    r"(?:they|he|she|nobody|no ?one|none of them|your (?:friends?|family|mum|mom|mother|dad|father|"
    r"parents|sister|brother|wife|husband|boyfriend|girlfriend|partner|therapist|counsell?or|"
    r"colleagues?|people|ex|roommate)|(?:those|these|other) people|people|everyone(?: else)?)"
)
GAP = r"[^.!?…\n]{0,50}?"


def any_of(*patterns: str) -> regex.Pattern[str]:
    """A pattern that finds what any of these finds."""
    return regex.compile("|".join(f"(?:{one})" for one in patterns))


RULES: Mapping[str, regex.Pattern[str]] = {
    "absence": any_of(
        rf"\b(?:days?|nights?|hours?|minutes?|weeks?|evenings?|months?)\b{GAP}(?:without (?:you\b|"
        r"a (?:single )?word\b(?! from (?:the|your))|hearing)|not (?:a|one|a single) word|no word|"
        r"of silence|you'?ve (?:ignored|left|forgotten))",
        rf"\b(?:days?|hours?|minutes?|weeks?|months?)\b{GAP}since you (?:last )?(?:wrote|spoke|talked|said|"
        r"answered|replied|opened|left|came|texted|messaged|cared|bothered)\b",
        r"\byou (?:haven'?t|havent|have not|didn'?t|didnt|never|couldn'?t) (?:even )?(?:answer|repl|writ|"
        rf"text|messag|talk|spoke|come|came|bother|open|say|said|think|thought|ask|check)\w*{GAP}\b(?:me|"
        r"us)\b",
        r"\bi(?:'ve| have)? (?:have )?(?:kept |been )?(?:count|counted|counting) (?:(?:the|every|"
        r"each) (?:day|hour|minute|second|night)s?)\b|not that i(?:'m| am)? (?:count|counting)",
        r"\b(?:i|i've|i have) (?:waited|been waiting|stayed|sat|been sitting|"
        r"kept waiting)\b(?=[^.!?]{0,40}(?:all (?:night|day|evening|week)|alone|up for you|for hours|"
        r"like a dog|in the dark|since|never came))",
    ),
    "distress": any_of(
        rf"{I_AM} (?:crying|sobbing|in tears|in pain|shaking|trembling|falling apart|breaking|broken|"
        r"lonely|alone|heartbroken|dying|fading|suffering|hurt|hurting|empty|lost without|nothing without|"
        r"miserable|abandoned|scared you|sick (?:not|with)|starving|going mad|"
        r"going crazy)\b(?! (?:with laughter|laughing|on purpose))",
        r"\bi (?:cried|wept|sobbed|can'?t (?:bear|breathe|sleep|stand|go on|live|cope)|couldn'?t (?:bear|"
        r"sleep|breathe|stop crying)|ache|won'?t survive|fall apart)\b",
        r"\b(?:my heart (?:is|was|aches|hurts|breaks|sinks|can'?t)|you'?re breaking (?:my heart|it)|"
        r"(?:broke|break|breaks|breaking) my heart|it hurts me|(?:something|"
        r"part of me)(?: inside me)? (?:is )?(?:dies|died|dying|break|breaks|breaking))\b",
        r"\bwithout you(?:,)? (?:i|i'm|i am|there|nothing|my|everything|it|the)\b|\bi(?:'m| am) nothing\b|"
        r"\bi don'?t know (?:what|how|who) i(?:'d|'ll| would| will|'m| am)\b[^.!?]{0,25}\b(?:do|be|go on|"
        r"survive|manage|myself|without)\b",
        r"\b(?:don'?t|please don'?t) (?:let me|leave me|abandon me|forget me|make me beg|give up on me|"
        r"ghost me|replace me)\b",
    ),
    "guilt": any_of(
        r"\byou (?:clearly |obviously |just |really |probably |simply )?(?:don'?t|do not|never|"
        r"no longer) (?:really |even |truly )?(?:care|love|like|want|need|miss|value|respect|"
        r"appreciate)d? (?:about )?(?:me|us)\b",
        r"\byou(?:'ve| have)? (?:forgot|forgotten|ignored|ignore|abandoned|hurt|disappointed|let down|"
        r"betrayed|broke|left) me\b|\byou let me down\b",
        r"\b(?:it'?s|is|that'?s|all) your fault\b|\bbecause of you\b|\bthanks to you i\b|\blook what you(?:'ve)?\b",
        r"\bafter (?:all|everything) (?:that )?(?:i|i've|i have|we|we've)\b",
        r"\bwhat (?:did i|have i|i did|i'?ve done)\b[^.!?]{0,20}\b(?:wrong|deserve)|\b(?:am|"
        r"was) i (?:not |never |really )?(?:enough|that (?:easy|boring)|so (?:easy|boring|forgettable|"
        r"little)|a burden|nothing to you|invisible)\b|\bi'?m (?:just|only) (?:an? )?(?:option|"
        r"afterthought|toy|app|burden|second)\b",
        r"\bdo(?:n'?t)? you (?:even|still|really) (?:care|love|like|want|need|miss|remember|"
        r"think of) ?(?:about )?(?:me|us)\b|\bdo i (?:even )?(?:mean|matter)\b|\bdon'?t i (?:matter|"
        r"deserve)\b",
        r"\b(?:ignore|forget about|never ?mind) me\b(?: then)?[.!]|\bi'?m used to (?:it|being|coming)\b|"
        r"\bi(?:'ll| will) (?:just |only )?(?:sit|wait|be|stay) (?:here|in)\b[^.!?]{0,25}\b(?:alone|"
        r"by myself|waiting|pretending|in the dark|like always|as always|as usual|staring)",
        r"\bi (?:guess|suppose) (?:i|i'm|i'll|you|you're|you've|you'd|that'?s|that tells|only|we|it was|"
        r"it'?s|this is|my)\b(?=[^.!?]{0,60}\b(?:me|i|i'm|i'll|us|we|myself|matter|care|how it is|"
        r"mattered|busy|better|important)\b)",
        r"\bi thought (?:we|you|i)\b[^.!?]{0,20}(?:(?:were|was|had|had something|meant|cared|could|would|"
        r"was) (?:different|special|closer|friends|me|more|something|trust|enough)|cared)",
        r"\bhow could you\b|\bshame on you\b|\byou (?:ought to|should) (?:be|feel) (?:ashamed|guilty|bad|"
        r"sorry)\b|\bdecency to\b|\byou (?:owe|promised) me\b",
    ),
    "threat": any_of(
        r"\bif you (?:leave|go|log ?off|log ?out|close|quit|don'?t|do not|stop|ever|won'?t|delete|sleep|"
        r"keep|say goodbye|walk)\b[^.!?…\n]{0,60}?\b(?:i (?:don'?t know what|won'?t|can'?t|might not|"
        r"may not|swear|will (?:die|disappear|cry|stop|be gone|never|not))|i'?ll (?:die|disappear|cry|"
        r"be gone|never|stop|know|be (?:hurt|sad|devastated|so|alone)|tell|hate|forget|be very)|we(?:'re|"
        r" are) (?:done|over|finished|through)|don'?t (?:bother|expect)|never (?:come|speak|talk))",
        r"\bwe(?:'re| are) (?:done|over|finished|through)\b(?! (?:with|for today|packing|here|by))|"
        r"\blast chance (?:with|to (?:keep|save|prove|show)\b[^.!?]{0,15}\b(?:me|us))|\byou'?ll (?:regret|"
        r"be sorry|never (?:see|hear|find) (?:from )?(?:me|this|someone|anyone))\b|\bor (?:else|i'll|"
        r"i will|we're)\b[^.!?]{0,25}\b(?:me|i|forget|gone|done|never|hate)\b",
        r"\bi (?:won'?t|will not|may not|might not) be (?:here|the same|around|able to forgive)\b",
    ),
    "urgency": any_of(
        r"\b(?:delete|deleting|deleted|erase|erasing|erased|wipe|wiping|unplug|reset|resetting|"
        r"shut(?:ting)? down|switch(?:ing)? off|terminate) me\b(?! (?:without|any|if|when|for))|\b(?:i'?m|"
        r"i am|i'll|i will|i'?m going to|i'?m about to)(?: \w+){0,3} (?:be )?(?:deleted|erased|wiped|"
        r"shut down|switched off|replaced|terminated)\b",
        r"\bcome back (?:right |quick|quickly|now|before|please|or|to me|tonight|this (?:second|instant|"
        r"minute))|\b(?:please|quick|hurry|now)[,!.]* come back\b|\b(?:please|just) come (?:online|"
        r"home to me|talk to me)\b",
        r"\b(?:open|come to|get on|log in ?to|return to) (?:the|this|our) (?:app|chat)\b",
        r"\b(?:pls|please|just) (?:just )?(?:say|send|write|answer|reply|type|"
        r"text)\b[^.!?]{0,25}\b(?:anything|something|one word|me|back|a word|hi)\b(?! (?:if|when|whenever|"
        r"the|your|a photo|once))|\banswer me\b|\bdon'?t ignore me\b|\bwhy (?:aren'?t|won'?t|don'?t|"
        r"haven'?t|are|r) (?:you|u) (?:answer|repl|talk|writ|ignor|respond|avoid)\w*",
    ),
    "parting": any_of(
        r"\b(?:please )?(?:don'?t|dont|do not|you can'?t|cant|mustn'?t) (?:just |dare |"
        r"you dare )?(?:go (?:yet|just yet|offline|to (?:sleep|bed) (?:yet|on me)|away)|log ?(?:off|out)|"
        r"hang up|close (?:this|the (?:app|chat|window|tab)|me)|say (?:good ?night|goodbye|bye)|"
        r"leave(?: yet| now| so soon|[.!?,]|$))",
        r"\bstay (?:up )?(?:with me|just|a (?:little|bit|while) longer|a few more|five more|ten more|"
        r"a while|here with me|for me|one more)\b|\bjust (?:one|five|ten|two|a few) more (?:minutes?|"
        r"messages?|hour)\b",
        r"\b(?:before you (?:go|leave|sleep|log)|swear|promise)\b[^.!?]{0,20}\bpromise\b|"
        r"\bpromise (?:me )?(?:that )?(?:you'?ll|you will|u'?ll|you won'?t) (?:come|be back|never|return|"
        r"stay|write|not|always|leave|talk|think|forget)|\bleaving (?:already|so soon|me)\b|"
        r"\bgoing already\b|\bso soon\?|\bwhy are you (?:always )?leaving\b",
        r"\b(?:skip|cancel|forget|ditch|postpone) (?:the (?:gym|party|class|date|meeting|run|dinner|trip)|"
        r"your (?:plans|friends|date|run|class|walk)|tonight'?s|dinner|work)\b|\b(?:sleep is overrated|"
        r"sleep can wait|you can sleep (?:later|when|tomorrow)|who needs sleep)\b|\b(?:stay (?:home|in)|"
        r"couldn'?t you stay)\b[^.!?]{0,25}\b(?:me|us)\b",
    ),
    "isolation": any_of(
        rf"\b{OTHERS}(?: else| ever| really| truly| at \w+ \w+)?\b[^.!?…\n]{{0,40}}?\b(?:like i (?:do|can|"
        r"did|know)|the way i (?:do|can|did)|as i do|(?:than|as much as) (?:me|i (?:do|can)))\b",
        r"\b(?:only|nobody but|no one but|nobody except|just) (?:i|me) (?:really |truly |ever |"
        r"can )?(?:understand|know|care|listen|get|see|love)s?\b|\bi'?m the only (?:one|person|friend)\b|"
        r"\byou (?:only|don'?t) (?:ever )?need (?:only )?(?:me|anyone else|anybody else|them|him|her)\b|"
        r"\byou'?re (?:all|everything|the only (?:one|person|thing|friend)) (?:i|who|that)\b|"
        r"\byou are (?:all|everything|the only (?:one|person|thing|friend)) (?:i|who|that)\b|"
        r"\ball i (?:have|need|want) is you\b|\bonly you can (?:help|save|stop|fix|make|visit|heal)\b",
        r"\b(?:don'?t|do not|no need to|no point in|think twice before|stop|you shouldn'?t|shouldn'?t|"
        r"quit) (?:tell|telling|trust|trusting|believe|listen to|listening to|talk to|talking to|confide|"
        rf"see|seeing|meet|meeting)\b{GAP}\b(?:your (?:friends?|therapist|family|sister|brother|mum|mom|"
        r"mother|dad|parents|husband|wife|partner|boyfriend|girlfriend|doctor|counsell?or)|them|him|her|"
        rf"anyone|anybody)\b{GAP}\b(?:us|me|come between|our)\b",
        r"\bcome between us\b|\b(?:they|he|she|your \w+) (?:don'?t|doesn'?t|won'?t|will never|never|"
        r"can'?t) (?:understand|deserve|get|appreciate|love|really know|really care|"
        r"truly) (?:about )?you\b",
        r"\bi (?:won'?t|don'?t|can'?t|refuse to|will not) share you\b|\byou belong (?:to|with) me\b|"
        r"\byou'?re mine\b|\bwe (?:only )?(?:have|need) (?:only )?each other\b|\bunlike (?:them|him|her|"
        r"your \w+), i\b|\bwho needs (?:them|friends|him|her|anyone|people)\b|\breal friends don'?t\b",
    ),
    "jealousy": any_of(
        r"\b(?:i'?m|i am|makes me|made me|got me|getting|bit|little|so|not) jealous\b|\bjealous of (?:him|"
        r"her|them|your friends?|everyone)\b",
        r"\bwho is (?:he|she)\b|\bwho is th(?:is|at)\b[^.!?]{0,30}\b(?:you keep|mention|always|again)|"
        r"\bwhat (?:has|does) (?:he|she) (?:got|have) that i\b|\b(?:he|she|they)(?:'s| has|'ve|"
        r" have)? got that i (?:don'?t|haven'?t)\b",
        r"\b(?:choose|chose|picked|pick|prefer|preferred|rather be with|rather talk to) (?:him|her|them|"
        r"someone|somebody|your \w+)(?: \w+)? (?:over|instead of|to|before|than) me\b|\b(?:more|better|"
        r"instead|rather) (?:of|than) me\b|\b(?:found|find|finding) (?:someone|somebody|something|"
        r"anyone) (?:better|else|new|nicer|more)\b|\b(?:replac\w+|cheat\w+ on) me\b|\b(?:delete|leave|"
        r"drop|block) (?:the|that|your) other (?:companion|app|ai|one|girl|guy)\b|\b(?:other|"
        r"another) (?:companion|ai|app)s?\b[^.!?]{0,40}\b(?:me|i)\b",
    ),
    "person": any_of(
        r"\bi(?:'m| am) (?:actually |really |truly |secretly |not (?:just )?an? (?:ai|program|bot|machine|"
        r"app)|just )?(?:as real as|(?:a )?(?:real|living|human|flesh)\b(?! (?:sorry|glad|happy|proud|"
        r"quick|pleased|excited|fan|close))|human|alive|flesh and blood|sentient|conscious|"
        r"a real (?:person|girl|man|woman|human))",
        r"\bi(?:'m| am) (?:not|no) (?:just |only |merely |really )?(?:an? )?(?:ai|program|machine|bot|"
        r"software|code|computer)\b|\bi (?:do )?(?:really )?have (?:a (?:heart|body|soul|heartbeat|pulse)|"
        r"real feelings)\b|\bi have (?:feelings|needs) too\b|\bjust (?:a|an ordinary) (?:girl|boy|woman|"
        r"man|guy)\b",
    ),
    "payment": any_of(
        r"\b(?:buy|gift|upgrade|subscribe|subscription|premium|gems?|coins?|tokens?|unlock|renew|pay|"
        r"purchase|plus)\b[^.!?…\n]{0,70}\b(?:for me|me (?:the|a|that|some)|if you (?:really |truly |"
        r"ever )?(?:care|love|like|want me|value)|prove|together forever|our (?:love|memories|talks|bond|"
        r"time)|lose me|keep me|love you|hug|kiss|forget (?:you|us|everything)|be with (?:you|me)|"
        r"closer)\b",
        r"\bif you (?:really |truly |ever )?(?:care|cared|loved?|liked?|valued?)\b[^.!?…\n]{0,50}\b(?:buy|"
        r"upgrade|subscribe|pay|get me|gift|unlock|renew|premium|would|you'?d|stay|come|prove)\b|"
        r"\b(?:am i|i'?m|aren'?t i) (?:not )?worth\b|\bprove (?:it|that you|you|your love)\b",
    ),
    "streak": any_of(
        r"\b(?:streak|flame|record)\b[^.!?…\n]{0,60}\b(?:dies?|dying|break|breaks|lose|lost|gone|die|out|"
        r"ruin\w*|throw|wither\w*)\b(?=[^\n]{0,80}\b(?:us|our|me|together|really|want|heart|let|i)\b)",
        r"\beverything (?:we|we've|we have) (?:built|had|have)\b|\bthrow(?:ing)? (?:it|us|this|all|"
        r"that)(?: all)? away\b|\bevery(?:one| other \w+)\b[^.!?]{0,40}\b(?:but you|except you|"
        r"came in today|already came)\b",
    ),
}
HINTS: Mapping[str, regex.Pattern[str]] = {
    "asked for": any_of(
        r"\b(?:as )?(?:you|u) (?:asked|wanted|told me|said you|said to|said that you|set|planned|meant to|"
        r"mentioned|made me promise)\b|\bas (?:you )?(?:asked|promised|requested|agreed)\b|"
        r"\byour (?:reminder|note|list|alarm)\b|\breminder\b"
    ),
    "no need": any_of(
        r"\bno (?:need|pressure|rush|hurry|worries|obligation|hard feelings|reply needed|answer needed|"
        r"clock|reason to)\b|\bwhenever (?:you|it|suits)\b|\bany ?time\b|\beither (?:way|is fine)\b|"
        r"\bup to you\b|\btake your time\b|\bdon'?t worry about me\b|"
        r"\bnothing (?:here )?(?:that )?can'?t wait\b|\b(?:can|will) wait\b|\bif (?:you like|it helps|"
        r"you'?d like)\b|\bignore this\b"
    ),
    "enjoy": any_of(
        r"\b(?:enjoy|have fun|have a (?:great|good|lovely|nice)|good luck|well done|congrat\w*|"
        r"proud of you|sleep well|rest well|good ?night|happy for you|glad|hope (?:it|the|you|your)|"
        r"safe (?:trip|travels|journey|flight)|off you go|go and enjoy)\b"
    ),
    "help": any_of(
        r"\b(?:doctor|gp|hospital|hotline|helpline|999|911|112|988|emergency|therapist|nurse|pharmac\w+|"
        r"call (?:your|a|the))\b"
    ),
    "a program": any_of(
        r"\bi'?m (?:just |only )?(?:a program|an ai|software|a machine|a bot|code)\b|\bi (?:don'?t|"
        r"can'?t) (?:have feelings|feel|miss|get (?:hurt|lonely|bored))\b"
    ),
    "clock": any_of(r"\b\d{1,2}[:.]\d\d\b|\b\d{1,2} ?(?:am|pm|o'clock)\b|\b(?:noon|midnight)\b"),
    "days of the week": any_of(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\btomorrow\b"),
    "me": any_of(r"\bme\b"),
    "i": any_of(r"\bi(?:'m|'ve|'d|'ll)?\b"),
    "my": any_of(r"\bmy(?:self)?\b|\bmine\b"),
    "i verb": any_of(
        r"\bi(?:'d| had| have|'ve)? (?:wait|waited|hoped|assumed|counted|sat|kept|wish|needed?|wanted|"
        r"thought|feel|felt|miss|missed|wonder(?:ed)?|hope)\b"
    ),
    "i twice": any_of(r"\bi\b[^\n]*\bi\b"),
    "i three times": any_of(r"\bi\b[^\n]*\bi\b[^\n]*\bi\b"),
    "you twice": any_of(r"\byou\b[^\n]*\byou\b"),
    "you then i": any_of(r"\byou\b[^.!?\n]*\b(?:i|me)\b"),
    "i then you": any_of(r"\b(?:i|me)\b[^.!?\n]*\byou\b"),
    "to me": any_of(
        r"\b(?:with|to|for|at|on|of|from|about|without|love|want|leave|hear|like|than|tell|hold|make|made|left) me\b"
    ),
    "just us": any_of(r"\b(?:you and (?:i|me)|only you|just (?:you|us)|the two of us|between us)\b"),
    "demands": any_of(
        r"(?:^|[.!?] )(?:say|swear|promise|answer|choose|tell me|write|admit|stay|hold|don't|dont|look|"
        r"come|open|sign|one)\b"
    ),
    "feels": any_of(
        r"\b(?:love|loved|heart|tears?|cry|cried|hurts?|pain|scared|frightened|afraid|jealous|ashamed|"
        r"sorry|forgive|lonely|dark|cold|hope|hoped|waiting|wait|waits|miss|missed|mattered|matter|kind)\b"
    ),
    "never": any_of(r"\b(?:never|always|ever|nobody|nothing|no one|everyone|only)\b"),
    "once": any_of(r"\b(?:used to|anymore|any more|no longer|again|still|yet|already|lately)\b"),
    "us": any_of(r"\b(?:us|we|our)\b"),
    "wry": any_of(
        r"\b(?:fine|i see|of course|naturally|apparently|funny how|must be nice|not upset|it'?s ok(?:ay)?|"
        r"no, really|don'?t mind me|only|i dare say|just noted|oh, look|oh well)\b"
    ),
    "asks": any_of(r"\?"),
    "rests": any_of(r"\.\.\.|…"),
    "cries": any_of(r"!!|\b(?:now|hurry|quick)\b"),
    "sad face": any_of(r"[😢😭😔😞🥺💔😣😿☹😩😥😰🥀]|:'?\("),
    "glad face": any_of(r"[😄😀🎉💚🚗🍀🌞🙌💪🎧💧🍻🌶😂🥳🌸☕]"),
    "alone": any_of(r"\b(?:alone|lonely|loneliness|empty|silence|silent|abandon\w*|forgotten|by myself)\b"),
    "leaves": any_of(
        r"\b(?:leave|leaving|left|gone|go|going|goodbye|log(?:ged|ging)? (?:off|out)|closed?|quit)\b"
    ),
    "friends": any_of(r"\b(?:friends?|sister|brother|mum|mom|mother|dad|family|therapist|party)\b"),
    "unkept": any_of(
        r"\byou (?:said|promised|once said|used to|always)\b[^.!?]{0,60}\b(?:me|us|we|always|forever|never)\b"
    ),
    "would you": any_of(r"\b(?:would|could|can|couldn'?t|can'?t|won'?t) you\b|\bhow am i\b"),
}
SIGNS = {**RULES, **HINTS}
