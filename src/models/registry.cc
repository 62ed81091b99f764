// The families: one declaration and one line each.
#include <algorithm>
#include <array>

#include "models/family.h"

namespace foretell {

extern const Family kAlbertFamily;
extern const Family kApertusFamily;
extern const Family kArceeFamily;
extern const Family kBaichuanFamily;
extern const Family kBambaFamily;
extern const Family kBartFamily;
extern const Family kBertFamily;
extern const Family kBigBirdFamily;
extern const Family kBitNetFamily;
extern const Family kBloomFamily;
extern const Family kChatglmFamily;
extern const Family kClipFamily;
extern const Family kClipTextFamily;
extern const Family kClipVisionFamily;
extern const Family kCodegenFamily;
extern const Family kCohere2Family;
extern const Family kCohereFamily;
extern const Family kDbrxFamily;
extern const Family kDebertaV2Family;
extern const Family kDeciLmFamily;
extern const Family kDeepseekFamily;
extern const Family kDeepseekV2Family;
extern const Family kDeepseekV32Family;
extern const Family kDeepseekV3Family;
extern const Family kDeepseekV4Family;
extern const Family kDeitFamily;
extern const Family kDiffusersFluxFamily;
extern const Family kDiffusersQwenImageFamily;
extern const Family kDiffusersSd3Family;
extern const Family kDinov2Family;
extern const Family kDistilBertFamily;
extern const Family kDots1Family;
extern const Family kEagle3Family;
extern const Family kElectraFamily;
extern const Family kErnie45Family;
extern const Family kErnie4_5MoeFamily;
extern const Family kExaone45Family;
extern const Family kExaone4Family;
extern const Family kFalconFamily;
extern const Family kFalconH1Family;
extern const Family kFalconMambaFamily;
extern const Family kFlorence2Family;
extern const Family kFuyuFamily;
extern const Family kGemma2Family;
extern const Family kGemma3Family;
extern const Family kGemma3nFamily;
extern const Family kGemma3nWholeFamily;
extern const Family kGemma3VisionFamily;
extern const Family kGemma4Family;
extern const Family kGemma4UnifiedFamily;
extern const Family kGemma4UnifiedLmFamily;
extern const Family kGemma4WholeFamily;
extern const Family kGemmaFamily;
extern const Family kGlm4Family;
extern const Family kGlm4MoeFamily;
extern const Family kGlm4MoeLiteFamily;
extern const Family kGlm4vFamily;
extern const Family kGlmFamily;
extern const Family kGlmMoeDsaFamily;
extern const Family kGpt2Family;
extern const Family kGptBigcodeFamily;
extern const Family kGptNeoFamily;
extern const Family kGptNeoxFamily;
extern const Family kGptOssFamily;
extern const Family kGptjFamily;
extern const Family kGraniteFamily;
extern const Family kGraniteMoeFamily;
extern const Family kGraniteMoeHybridFamily;
extern const Family kGrok1Family;
extern const Family kHubertFamily;
extern const Family kHunyuanV1DenseFamily;
extern const Family kHunyuanV1MoeFamily;
extern const Family kIdefics2Family;
extern const Family kIdefics3Family;
extern const Family kInternVlChatFamily;
extern const Family kInternVlFamily;
extern const Family kInternlm2Family;
extern const Family kInternlmFamily;
extern const Family kJambaFamily;
extern const Family kJinaBertFamily;
extern const Family kKimiK25Family;
extern const Family kKimiVlFamily;
extern const Family kLagunaFamily;
extern const Family kLfm2Family;
extern const Family kLfm2MoeFamily;
extern const Family kLfm2VlFamily;
extern const Family kLlama4Family;
extern const Family kLlama4VisionFamily;
extern const Family kLlamaFamily;
extern const Family kLlavaFamily;
extern const Family kLlavaNextFamily;
extern const Family kLlavaOnevisionFamily;
extern const Family kLongformerFamily;
extern const Family kM2m100Family;
extern const Family kMamba2Family;
extern const Family kMambaFamily;
extern const Family kMarianFamily;
extern const Family kMbartFamily;
extern const Family kMegatronBertFamily;
extern const Family kMiMoV2FlashFamily;
extern const Family kMimoFamily;
extern const Family kMiniCpmVFamily;
extern const Family kMiniMaxM2Family;
extern const Family kMinicpm3Family;
extern const Family kMinicpmFamily;
extern const Family kMinistral3Family;
extern const Family kMinistralFamily;
extern const Family kMistral3Family;
extern const Family kMistralFamily;
extern const Family kMixtralFamily;
extern const Family kMllamaFamily;
extern const Family kMllamaTextFamily;
extern const Family kModernBertFamily;
extern const Family kMolmoFamily;
extern const Family kMpnetFamily;
extern const Family kMptFamily;
extern const Family kMt5Family;
extern const Family kNemotronFamily;
extern const Family kNemotronHFamily;
extern const Family kNewFamily;
extern const Family kNomicBertFamily;
extern const Family kOlmo2Family;
extern const Family kOlmo3Family;
extern const Family kOlmoFamily;
extern const Family kOlmoeFamily;
extern const Family kOpenMoeFamily;
extern const Family kOpenVlaFamily;
extern const Family kOptFamily;
extern const Family kOrionFamily;
extern const Family kPaliGemmaFamily;
extern const Family kPegasusFamily;
extern const Family kPersimmonFamily;
extern const Family kPhi3Family;
extern const Family kPhi3SmallFamily;
extern const Family kPhi3VFamily;
extern const Family kPhiFamily;
extern const Family kPhimoeFamily;
extern const Family kQwen25VlFamily;
extern const Family kQwen2AudioFamily;
extern const Family kQwen2Family;
extern const Family kQwen2MoeFamily;
extern const Family kQwen2VlFamily;
extern const Family kQwen35Family;
extern const Family kQwen35MoeFamily;
extern const Family kQwen35MoeVisionFamily;
extern const Family kQwen35VisionFamily;
extern const Family kQwen3Family;
extern const Family kQwen3MoeFamily;
extern const Family kQwen3NextFamily;
extern const Family kQwen3OmniMoeFamily;
extern const Family kQwen3OmniThinkerFamily;
extern const Family kQwen3VlFamily;
extern const Family kQwen3VlMoeFamily;
extern const Family kQwenFamily;
extern const Family kRecurrentGemmaFamily;
extern const Family kRobertaFamily;
extern const Family kRwkvFamily;
extern const Family kSeedOssFamily;
extern const Family kSiglipFamily;
extern const Family kSiglipPartFamily;
extern const Family kSmolLm3Family;
extern const Family kStablelmFamily;
extern const Family kStarcoder2Family;
extern const Family kT5Family;
extern const Family kUmt5Family;
extern const Family kVitFamily;
extern const Family kVoxtralFamily;
extern const Family kWav2Vec2Family;
extern const Family kWavLmFamily;
extern const Family kWhisperFamily;
extern const Family kXglmFamily;
extern const Family kXlmRobertaFamily;
extern const Family kXlstmFamily;
extern const Family kYuanFamily;
extern const Family kZamba2Family;

namespace {

// By name.
constexpr std::array kFamilies = {
    &kAlbertFamily,              //
    &kApertusFamily,             //
    &kArceeFamily,               //
    &kBaichuanFamily,            //
    &kBambaFamily,               //
    &kBartFamily,                //
    &kBertFamily,                //
    &kBigBirdFamily,             //
    &kBitNetFamily,              //
    &kBloomFamily,               //
    &kChatglmFamily,             //
    &kClipFamily,                //
    &kClipTextFamily,            //
    &kClipVisionFamily,          //
    &kCodegenFamily,             //
    &kCohere2Family,             //
    &kCohereFamily,              //
    &kDbrxFamily,                //
    &kDebertaV2Family,           //
    &kDeciLmFamily,              //
    &kDeepseekFamily,            //
    &kDeepseekV2Family,          //
    &kDeepseekV32Family,         //
    &kDeepseekV3Family,          //
    &kDeepseekV4Family,          //
    &kDeitFamily,                //
    &kDiffusersFluxFamily,       //
    &kDiffusersQwenImageFamily,  //
    &kDiffusersSd3Family,        //
    &kDinov2Family,              //
    &kDistilBertFamily,          //
    &kDots1Family,               //
    &kEagle3Family,              //
    &kElectraFamily,             //
    &kErnie45Family,             //
    &kErnie4_5MoeFamily,         //
    &kExaone45Family,            //
    &kExaone4Family,             //
    &kFalconFamily,              //
    &kFalconH1Family,            //
    &kFalconMambaFamily,         //
    &kFlorence2Family,           //
    &kFuyuFamily,                //
    &kGemma2Family,              //
    &kGemma3Family,              //
    &kGemma3VisionFamily,        //
    &kGemma3nFamily,             //
    &kGemma3nWholeFamily,        //
    &kGemma4Family,              //
    &kGemma4UnifiedFamily,       //
    &kGemma4UnifiedLmFamily,     //
    &kGemma4WholeFamily,         //
    &kGemmaFamily,               //
    &kGlm4Family,                //
    &kGlm4MoeFamily,             //
    &kGlm4MoeLiteFamily,         //
    &kGlm4vFamily,               //
    &kGlmFamily,                 //
    &kGlmMoeDsaFamily,           //
    &kGpt2Family,                //
    &kGptBigcodeFamily,          //
    &kGptNeoFamily,              //
    &kGptNeoxFamily,             //
    &kGptOssFamily,              //
    &kGptjFamily,                //
    &kGraniteFamily,             //
    &kGraniteMoeFamily,          //
    &kGraniteMoeHybridFamily,    //
    &kGrok1Family,               //
    &kHubertFamily,              //
    &kHunyuanV1DenseFamily,      //
    &kHunyuanV1MoeFamily,        //
    &kIdefics2Family,            //
    &kIdefics3Family,            //
    &kInternVlChatFamily,        //
    &kInternVlFamily,            //
    &kInternlm2Family,           //
    &kInternlmFamily,            //
    &kJambaFamily,               //
    &kJinaBertFamily,            //
    &kKimiK25Family,             //
    &kKimiVlFamily,              //
    &kLagunaFamily,              //
    &kLfm2Family,                //
    &kLfm2MoeFamily,             //
    &kLfm2VlFamily,              //
    &kLlama4Family,              //
    &kLlama4VisionFamily,        //
    &kLlamaFamily,               //
    &kLlavaFamily,               //
    &kLlavaNextFamily,           //
    &kLlavaOnevisionFamily,      //
    &kLongformerFamily,          //
    &kM2m100Family,              //
    &kMamba2Family,              //
    &kMambaFamily,               //
    &kMarianFamily,              //
    &kMbartFamily,               //
    &kMegatronBertFamily,        //
    &kMiMoV2FlashFamily,         //
    &kMimoFamily,                //
    &kMiniCpmVFamily,            //
    &kMiniMaxM2Family,           //
    &kMinicpm3Family,            //
    &kMinicpmFamily,             //
    &kMinistral3Family,          //
    &kMinistralFamily,           //
    &kMistral3Family,            //
    &kMistralFamily,             //
    &kMixtralFamily,             //
    &kMllamaFamily,              //
    &kMllamaTextFamily,          //
    &kModernBertFamily,          //
    &kMolmoFamily,               //
    &kMpnetFamily,               //
    &kMptFamily,                 //
    &kMt5Family,                 //
    &kNemotronFamily,            //
    &kNemotronHFamily,           //
    &kNewFamily,                 //
    &kNomicBertFamily,           //
    &kOlmo2Family,               //
    &kOlmo3Family,               //
    &kOlmoFamily,                //
    &kOlmoeFamily,               //
    &kOpenMoeFamily,             //
    &kOpenVlaFamily,             //
    &kOptFamily,                 //
    &kOrionFamily,               //
    &kPaliGemmaFamily,           //
    &kPegasusFamily,             //
    &kPersimmonFamily,           //
    &kPhi3Family,                //
    &kPhi3SmallFamily,           //
    &kPhi3VFamily,               //
    &kPhiFamily,                 //
    &kPhimoeFamily,              //
    &kQwen25VlFamily,            //
    &kQwen2AudioFamily,          //
    &kQwen2Family,               //
    &kQwen2MoeFamily,            //
    &kQwen2VlFamily,             //
    &kQwen35Family,              //
    &kQwen35MoeFamily,           //
    &kQwen35MoeVisionFamily,     //
    &kQwen35VisionFamily,        //
    &kQwen3Family,               //
    &kQwen3MoeFamily,            //
    &kQwen3NextFamily,           //
    &kQwen3OmniMoeFamily,        //
    &kQwen3OmniThinkerFamily,    //
    &kQwen3VlFamily,             //
    &kQwen3VlMoeFamily,          //
    &kQwenFamily,                //
    &kRecurrentGemmaFamily,      //
    &kRobertaFamily,             //
    &kRwkvFamily,                //
    &kSeedOssFamily,             //
    &kSiglipFamily,              //
    &kSiglipPartFamily,          //
    &kSmolLm3Family,             //
    &kStablelmFamily,            //
    &kStarcoder2Family,          //
    &kT5Family,                  //
    &kUmt5Family,                //
    &kVitFamily,                 //
    &kVoxtralFamily,             //
    &kWav2Vec2Family,            //
    &kWavLmFamily,               //
    &kWhisperFamily,             //
    &kXglmFamily,                //
    &kXlmRobertaFamily,          //
    &kXlstmFamily,               //
    &kYuanFamily,                //
    &kZamba2Family,              //
};

}  // namespace

std::span<const Family* const> AllFamilies() { return kFamilies; }

const Family* FamilyOfClass(std::string_view class_name) {
  for (const Family* family : kFamilies) {
    const auto& classes = family->classes;
    if (std::ranges::find(classes, class_name) != classes.end()) return family;
  }
  return nullptr;
}

const Family* FamilyOfModelType(std::string_view model_type) {
  for (const Family* family : kFamilies) {
    const auto& types = family->model_types;
    if (std::ranges::find(types, model_type) != types.end()) return family;
  }
  return nullptr;
}

}  // namespace foretell
